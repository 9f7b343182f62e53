/** The current time, updated once a second while the page is visible. */

class Now {
  /** Time, ms. */
  ms = $state.raw(Date.now());
  /** True while the page is visible; a hidden page sends no periodic requests. */
  visible = $state.raw(document.visibilityState === 'visible');
  #timer: ReturnType<typeof setInterval> | undefined;

  start(): void {
    document.addEventListener('visibilitychange', () => this.#run());
    this.#run();
  }

  #run(): void {
    clearInterval(this.#timer);
    this.visible = document.visibilityState === 'visible';
    if (!this.visible) return;
    this.ms = Date.now();
    this.#timer = setInterval(() => (this.ms = Date.now()), 1000);
  }
}

export const now = new Now();
