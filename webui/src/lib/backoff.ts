/** Delay before the page connects to the event stream again. */
export const FIRST_MS = 1_000;
export const MOST_MS = 30_000;
/** A restarting clock is asked often: its new process accepts connections within a second. */
export const RESTART_MS = 500;

/** Delays that double from one second to half a minute; a fixed delay during a restart. */
export class Backoff {
  #failures = 0;

  /** Starts again at the shortest delay; called when a connection works. */
  reset(): void {
    this.#failures = 0;
  }

  /** Next delay, ms. */
  next(isRestarting: boolean): number {
    if (isRestarting) {
      this.#failures = 0;
      return RESTART_MS;
    }
    const wait = Math.min(FIRST_MS * 2 ** this.#failures, MOST_MS);
    this.#failures += 1;
    return wait;
  }
}
