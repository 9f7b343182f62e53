/** Pictures of the panels; fetches only changed panels, and only while the page is visible. */
import { requestAddress } from '../lib/root';
import { asBlob, asText, loadSnapshot, removeSnapshots, storeSnapshot } from '../lib/snapshot';
import { repainted } from '../lib/glass';
import { authHeaders } from '../lib/credentials';

export interface Panel {
  picture: ImageBitmap;
  /** Number of the picture; counts up. */
  version: number;
  /** Number of full refreshes, which flash black and white even if the picture does not change. */
  flashes: number;
}

class Glass {
  panels = $state.raw<(Panel | undefined)[]>([]);
  /** Time of the last response with a picture or 304, ms; 0 before the first. */
  seenAt = $state(0);
  #count = $state(0);
  #etags: (string | null)[] = [];
  /** The pictures as data URLs, for the stored snapshot. */
  #texts: string[] = [];
  /** Panels to fetch, with the number of full refreshes since their last fetch. */
  #pending = new Map<number, number>();
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
      this.#fetchIfVisible();
      if (document.visibilityState !== 'visible') this.#store();
    });
    addEventListener('pagehide', () => this.#store());
  }

  /** Removes all pictures, including the stored ones. */
  clear(): void {
    this.count = 0;
    this.seenAt = 0;
    this.#pending.clear();
    this.#texts = [];
    removeSnapshots();
  }

  /** Shows the stored snapshot if no status has arrived yet. */
  async restore(): Promise<void> {
    const snapshot = loadSnapshot();
    if (!snapshot || this.#count > 0) return;
    const pictures = await Promise.all(snapshot.pictures.map((text) => createImageBitmap(asBlob(text))));
    if (this.#count > 0) return;
    this.#count = pictures.length;
    this.panels = pictures.map((picture) => ({ picture, version: 0, flashes: 0 }));
    this.seenAt = snapshot.at;
  }

  /** Stores a snapshot; called when the page is hidden. */
  #store(): void {
    const pictures = this.#texts.filter(Boolean);
    if (pictures.length > 0 && pictures.length === this.#count) storeSnapshot({ at: this.seenAt, pictures });
  }

  /** Fetches all panels. */
  all(): void {
    for (let index = 0; index < this.#count; index += 1) this.#enqueue(index, 0);
    this.#fetchIfVisible();
  }

  /** Handles the data of an `event: panels` frame; fetches all panels if it is invalid. */
  changed(data: string): void {
    const change = repainted(data);
    if (!change) return this.all();
    for (const index of change.partial) this.#enqueue(index, 0);
    for (const index of change.full) this.#enqueue(index, 1);
    this.#fetchIfVisible();
  }

  #enqueue(index: number, flashes: number): void {
    if (index < this.#count) this.#pending.set(index, (this.#pending.get(index) ?? 0) + flashes);
  }

  #fetchIfVisible(): void {
    if (!this.#fetching && document.visibilityState === 'visible') void this.#fetchPending();
  }

  async #fetchPending(): Promise<void> {
    this.#fetching = true;
    while (this.#pending.size > 0) {
      const pending = [...this.#pending];
      this.#pending.clear();
      const fetched = await Promise.all(pending.map(([index, flashes]) => this.#fetchOne(index, flashes)));
      const panels = [...this.panels];
      for (const panel of fetched) {
        if (panel && panel.index < this.#count) panels[panel.index] = panel;
      }
      if (fetched.some(Boolean)) this.panels = panels;
    }
    this.#fetching = false;
  }

  async #fetchOne(index: number, flashes: number): Promise<(Panel & { index: number }) | undefined> {
    const etag = this.#etags[index];
    const before = this.panels[index];
    try {
      const response = await fetch(requestAddress(`/api/panels/${index}.png`), {
        headers: { ...authHeaders(), ...(etag && { 'If-None-Match': etag }) },
        cache: 'no-store',
        signal: AbortSignal.timeout(10_000),
      });
      if (response.status === 304 && before) {
        this.seenAt = Date.now();
        return flashes > 0 ? { ...before, index, flashes: before.flashes + flashes } : undefined;
      }
      if (response.status !== 200) return undefined;
      const blob = await response.blob();
      const picture = await createImageBitmap(blob);
      this.#texts[index] = await asText(blob);
      this.#etags[index] = response.headers.get('etag');
      this.seenAt = Date.now();
      return { index, picture, version: (before?.version ?? 0) + 1, flashes: (before?.flashes ?? 0) + flashes };
    } catch {
      // The event stream detects a lost connection; all panels are fetched after it reconnects.
      return undefined;
    }
  }
}

export const glass = new Glass();
