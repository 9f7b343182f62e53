/** The time as the page shows it: it goes on by whole seconds, and only while somebody looks. */

class Now {
  /** Time, ms. */
  ms = $state.raw(Date.now());
  /** Whether somebody looks: else nothing is asked of the clock. */
  seen = $state.raw(document.visibilityState === 'visible');
  #timer: ReturnType<typeof setInterval> | undefined;

  start(): void {
    document.addEventListener('visibilitychange', () => this.#run());
    this.#run();
  }

  #run(): void {
    clearInterval(this.#timer);
    this.seen = document.visibilityState === 'visible';
    if (!this.seen) return;
    this.ms = Date.now();
    this.#timer = setInterval(() => (this.ms = Date.now()), 1000);
  }
}

export const now = new Now();
