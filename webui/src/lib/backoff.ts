/** Delay before the page connects to the event stream again. */
export const FIRST_MS = 1_000;
export const MOST_MS = 30_000;
export const CLOSING_MS = 5_000;

/** Why the last connection ended: it broke, or the clock sent a closing frame. */
export type Ending = 'broken' | 'closing';

/** Delays that double from one second to half a minute; a fixed delay after a closing frame. */
export class Backoff {
  #failures = 0;

  /** Starts again at the shortest delay; called when a connection works. */
  reset(): void {
    this.#failures = 0;
  }

  /** Next delay, ms. */
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
