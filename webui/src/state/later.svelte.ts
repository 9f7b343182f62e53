/** Loading of the parts that the first view does not need. */
type Parts = typeof import('../later');

class Later {
  /** The parts, once they are loaded. */
  parts = $state.raw<Parts | null>(null);
  /** The parts could not be loaded: the clock is unreachable, or has another version of the page by now. */
  failed = $state.raw(false);

  async load(): Promise<void> {
    try {
      this.parts = await import('../later');
    } catch {
      this.failed = true;
    }
  }
}

export const later = new Later();
