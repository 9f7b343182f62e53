/** A finger on a button of the simulated clock: the button is down for as long as a request lasts. */
import { at } from './root';
import { signed } from './sign';

/** Time a button is down at least, ms; the clock takes what is shorter than 40 ms for a bounce. */
export const PRESS_LEAST_MS = 120;
/** Time between two presses of a button, ms. */
export const PRESS_APART_MS = 60;
/** Longest press that the clock takes, ms. */
export const PRESS_MOST_MS = 60_000;

/** A request that presses a button. */
export interface Pressing {
  /** It has left the browser, or is over. */
  sent: Promise<unknown>;
  /** Status of its answer; 0 if there was none. */
  ended: Promise<number>;
  /** Breaks it off, which lifts the finger. */
  breakOff(): void;
}

/** Asks the clock to hold a button. */
export function pressing(button: number): Pressing {
  // A browser may send a request long after it was asked to; only this kind of request tells when it has.
  const request = new XMLHttpRequest();
  const over = (target: EventTarget) => new Promise((done) => target.addEventListener('loadend', done, { once: true }));
  const ended = over(request).then(() => request.status);
  const sent = Promise.race([over(request.upload), ended]);
  request.open('POST', at('/sim/buttons'));
  for (const [name, value] of Object.entries(signed())) request.setRequestHeader(name, value);
  request.setRequestHeader('Content-Type', 'application/json');
  request.send(JSON.stringify({ press: [button], ms: PRESS_MOST_MS }));
  return { sent, ended, breakOff: () => request.abort() };
}

/** One press of a button. */
export class Press {
  /** Status of the answer; 0 where the press was ended here. */
  readonly ended: Promise<number>;
  #lift: () => void = () => {};
  #lifted = new Promise<void>((done) => (this.#lift = done));

  /** Presses once the press before it is over. */
  constructor(start: () => Pressing, before: Promise<unknown> = Promise.resolve()) {
    this.ended = before.then(() => this.#hold(start()));
  }

  /** Takes the finger off: at once, but for a press that would be too short. */
  lift(): void {
    this.#lift();
  }

  async #hold(request: Pressing): Promise<number> {
    const least = request.sent.then(() => delay(PRESS_LEAST_MS));
    const lifted = Promise.all([least, this.#lifted]).then(() => request.breakOff());
    await Promise.race([request.ended, lifted]);
    return request.ended;
  }
}

/** Resolves after a time. */
export function delay(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
