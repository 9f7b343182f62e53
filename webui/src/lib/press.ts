/** Presses buttons of the simulated clock: a button is down while its request is open. */
import { at } from './root';
import { authHeaders } from './credentials';

/** Shortest press, ms; the clock debounces presses below 40 ms. */
export const PRESS_LEAST_MS = 120;
/** Pause between two presses of a button, ms. */
export const PRESS_APART_MS = 60;
/** Longest press that the clock accepts, ms. */
export const PRESS_MOST_MS = 60_000;

/** An open request that holds a button down. */
export interface PressRequest {
  /** Resolves when the request has been sent or has ended. */
  sent: Promise<unknown>;
  /** Resolves to the status of the response; 0 if there was none. */
  ended: Promise<number>;
  /** Aborts the request, which releases the button. */
  abort(): void;
}

/** Starts a request that holds a button down. */
export function pressRequest(button: number): PressRequest {
  // A browser may send a request late, and only XMLHttpRequest reports when it was sent.
  const request = new XMLHttpRequest();
  const over = (target: EventTarget) => new Promise((done) => target.addEventListener('loadend', done, { once: true }));
  const ended = over(request).then(() => request.status);
  const sent = Promise.race([over(request.upload), ended]);
  request.open('POST', at('/sim/buttons'));
  for (const [name, value] of Object.entries(authHeaders())) request.setRequestHeader(name, value);
  request.setRequestHeader('Content-Type', 'application/json');
  request.send(JSON.stringify({ press: [button], ms: PRESS_MOST_MS }));
  return { sent, ended, abort: () => request.abort() };
}

/** One press of a button. */
export class Press {
  /** Resolves to the status of the response; 0 if the press was released by this page. */
  readonly ended: Promise<number>;
  #release: () => void = () => {};
  #released = new Promise<void>((done) => (this.#release = done));

  /** Starts the press when `before`, the previous press, has ended. */
  constructor(start: () => PressRequest, before: Promise<unknown> = Promise.resolve()) {
    this.ended = before.then(() => this.#run(start()));
  }

  /** Releases the button, but not before the shortest press is over. */
  release(): void {
    this.#release();
  }

  async #run(request: PressRequest): Promise<number> {
    const least = request.sent.then(() => delay(PRESS_LEAST_MS));
    const aborted = Promise.all([least, this.#released]).then(() => request.abort());
    await Promise.race([request.ended, aborted]);
    return request.ended;
  }
}

/** Resolves after a time. */
export function delay(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
