/** The pictures on the panels; only what changed is fetched, and only while somebody looks. */
import { at } from '../lib/root';
import { asBlob, asText, forgetKeepsake, keep, recall } from '../lib/keepsake';
import { repainted } from '../lib/glass';
import { signed } from '../lib/sign';

export interface Panel {
  picture: ImageBitmap;
  /** Grows with every new picture. */
  version: number;
  /** How often it went through black and white; it may show the same afterwards. */
  flashes: number;
}

class Glass {
  panels = $state.raw<(Panel | undefined)[]>([]);
  /** When a picture was last asked for and told, ms; 0 before the first one. */
  seenAt = $state(0);
  #count = $state(0);
  #etags: (string | null)[] = [];
  /** The pictures as text, to be kept. */
  #texts: string[] = [];
  /** Panels to ask for, and how many full refreshes they had meanwhile. */
  #wanted = new Map<number, number>();
  #fetching = false;

  get count(): number {
    return this.#count;
  }

  set count(count: number) {
    if (count === this.#count) return;
    this.#count = count;
    this.panels = [];
    this.#etags = [];
    this.#texts = [];
    this.all();
  }

  start(): void {
    document.addEventListener('visibilitychange', () => {
      this.#look();
      if (document.visibilityState !== 'visible') this.#keep();
    });
    addEventListener('pagehide', () => this.#keep());
  }

  /** Nothing of what is known may be shown any more. */
  forget(): void {
    this.count = 0;
    this.seenAt = 0;
    this.#wanted.clear();
    this.#texts = [];
    forgetKeepsake();
  }

  /** Shows what was seen last, for as long as the clock has not said anything. */
  async recall(): Promise<void> {
    const kept = recall();
    if (!kept || this.#count > 0) return;
    const pictures = await Promise.all(kept.pictures.map((text) => createImageBitmap(asBlob(text))));
    if (this.#count > 0) return;
    this.#count = pictures.length;
    this.panels = pictures.map((picture) => ({ picture, version: 0, flashes: 0 }));
    this.seenAt = kept.at;
  }

  /** Keeps what is seen; to be called when somebody stops looking. */
  #keep(): void {
    const pictures = this.#texts.filter(Boolean);
    if (pictures.length > 0 && pictures.length === this.#count) keep({ at: this.seenAt, pictures });
  }

  /** Asks for every panel: what happened to them is not known. */
  all(): void {
    for (let index = 0; index < this.#count; index += 1) this.#want(index, 0);
    this.#look();
  }

  /** Takes the data of an `event: panels` frame; what cannot be read means all panels. */
  changed(data: string): void {
    const change = repainted(data);
    if (!change) return this.all();
    for (const index of change.partial) this.#want(index, 0);
    for (const index of change.full) this.#want(index, 1);
    this.#look();
  }

  #want(index: number, flashes: number): void {
    if (index < this.#count) this.#wanted.set(index, (this.#wanted.get(index) ?? 0) + flashes);
  }

  #look(): void {
    if (!this.#fetching && document.visibilityState === 'visible') void this.#fetchWanted();
  }

  async #fetchWanted(): Promise<void> {
    this.#fetching = true;
    while (this.#wanted.size > 0) {
      const wanted = [...this.#wanted];
      this.#wanted.clear();
      const got = await Promise.all(wanted.map(([index, flashes]) => this.#fetchOne(index, flashes)));
      const panels = [...this.panels];
      for (const panel of got) {
        if (panel && panel.index < this.#count) panels[panel.index] = panel;
      }
      if (got.some(Boolean)) this.panels = panels;
    }
    this.#fetching = false;
  }

  async #fetchOne(index: number, flashes: number): Promise<(Panel & { index: number }) | undefined> {
    const etag = this.#etags[index];
    const before = this.panels[index];
    try {
      const answer = await fetch(at(`/api/panels/${index}.png`), {
        headers: { ...signed(), ...(etag && { 'If-None-Match': etag }) },
        cache: 'no-store',
        signal: AbortSignal.timeout(10_000),
      });
      if (answer.status === 304 && before) {
        this.seenAt = Date.now();
        return flashes > 0 ? { ...before, index, flashes: before.flashes + flashes } : undefined;
      }
      if (answer.status !== 200) return undefined;
      const blob = await answer.blob();
      const picture = await createImageBitmap(blob);
      this.#texts[index] = await asText(blob);
      this.#etags[index] = answer.headers.get('etag');
      this.seenAt = Date.now();
      return { index, picture, version: (before?.version ?? 0) + 1, flashes: (before?.flashes ?? 0) + flashes };
    } catch {
      // The stream notices a clock that is away, and asks for everything when it is back.
      return undefined;
    }
  }
}

export const glass = new Glass();
