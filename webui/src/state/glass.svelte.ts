/** The pictures on the panels; only what changed is fetched. */
import { repainted } from '../lib/glass';

export interface Panel {
  picture: ImageBitmap;
  /** Grows with every new picture. */
  version: number;
  /** It went through black and white. */
  full: boolean;
}

class Glass {
  panels = $state.raw<(Panel | undefined)[]>([]);
  #count = $state(0);
  #etags: (string | null)[] = [];
  /** Panels to ask for, and whether their refresh was a full one. */
  #wanted = new Map<number, boolean>();
  #fetching = false;

  get count(): number {
    return this.#count;
  }

  set count(count: number) {
    if (count === this.#count) return;
    this.#count = count;
    this.panels = [];
    this.#etags = [];
    this.changed('all');
  }

  /** Takes the data of an `event: panels` frame; what cannot be read means all panels. */
  changed(data: string): void {
    const all = Array.from({ length: this.#count }, (_, index) => index);
    const { full, partial } = repainted(data) ?? { full: [], partial: all };
    for (const index of partial) this.#want(index, false);
    for (const index of full) this.#want(index, true);
    if (!this.#fetching) void this.#fetchWanted();
  }

  #want(index: number, full: boolean): void {
    if (index < this.#count) this.#wanted.set(index, full);
  }

  async #fetchWanted(): Promise<void> {
    this.#fetching = true;
    while (this.#wanted.size > 0) {
      const wanted = [...this.#wanted];
      this.#wanted.clear();
      const got = await Promise.all(wanted.map(([index, full]) => this.#fetchOne(index, full)));
      const panels = [...this.panels];
      for (const panel of got) {
        if (panel && panel.index < this.#count) panels[panel.index] = panel;
      }
      if (got.some(Boolean)) this.panels = panels;
    }
    this.#fetching = false;
  }

  async #fetchOne(index: number, full: boolean): Promise<(Panel & { index: number }) | undefined> {
    const etag = this.#etags[index];
    try {
      const answer = await fetch(`/api/panels/${index}.png`, {
        headers: etag ? { 'If-None-Match': etag } : {},
        cache: 'no-store',
        signal: AbortSignal.timeout(10_000),
      });
      if (answer.status !== 200) return undefined;
      const picture = await createImageBitmap(await answer.blob());
      this.#etags[index] = answer.headers.get('etag');
      return { index, picture, full, version: (this.panels[index]?.version ?? 0) + 1 };
    } catch {
      // The stream notices a clock that is away, and asks for everything when it is back.
      return undefined;
    }
  }
}

export const glass = new Glass();
