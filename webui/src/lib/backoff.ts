/** How long to wait before the page asks for the event stream again. */
export const FIRST_MS = 1_000;
export const MOST_MS = 30_000;
export const CLOSING_MS = 5_000;

/** Why the last connection ended: it broke, or the clock said that it is closing. */
export type Ending = 'broken' | 'closing';

/** Waiting times: doubling from one second to half a minute, or flat after a closing frame. */
export class Backoff {
  #failures = 0;

  /** Takes note that the stream works. */
  reset(): void {
    this.#failures = 0;
  }

  /** Time to wait, ms. */
  next(ending: Ending): number {
    if (ending === 'closing') {
      this.#failures = 0;
      return CLOSING_MS;
    }
    const wait = Math.min(FIRST_MS * 2 ** this.#failures, MOST_MS);
    this.#failures += 1;
    return wait;
  }
}
