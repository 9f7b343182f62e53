/** The text that is being written on the panels, and how the clock would draw it. */
import { ask } from '../lib/api';
import { blank, isBlank, KEPT_MAX, opened, type Page } from '../lib/compose';
import { SETTINGS, SHOW_CUSTOM } from '../lib/operations';
import { t } from '../lib/words';
import { clock } from './clock.svelte';
import { notices } from './notices.svelte';

class Composer {
  /** Somebody writes. */
  open = $state(false);
  page = $state.raw<Page>(blank(0));

  /** The texts that the clock keeps. */
  readonly kept = $derived((clock.settings?.keptTexts ?? []) as string[][]);
  readonly isKept = $derived(this.kept.some((cells) => cells.join('\n') === this.page.cells.join('\n')));
  readonly mayKeep = $derived(this.kept.length < KEPT_MAX && !this.isKept && !isBlank(this.page));

  /** Begins with empty panels, or with a text that is there. */
  begin(panels: number, cells: readonly string[] = []): void {
    this.page = opened(cells, panels);
    this.open = true;
  }

  end(): void {
    this.open = false;
  }

  async show(cells: readonly string[]): Promise<void> {
    if (await clock.wish('POST', SHOW_CUSTOM, { json: cells })) this.end();
  }

  async keep(): Promise<void> {
    await this.#keep([...this.kept, [...this.page.cells]], t('The clock keeps this text.'));
  }

  async forget(place: number): Promise<void> {
    await this.#keep(
      this.kept.filter((_, other) => other !== place),
      t('The clock has forgotten this text.'),
    );
  }

  async #keep(texts: readonly (readonly string[])[], done: string): Promise<void> {
    if (await clock.wish('PATCH', SETTINGS, { json: { keptTexts: texts } })) {
      await clock.loadSettings();
      notices.add('ok', done);
    }
  }
}

export const composer = new Composer();

/** How the clock would draw these texts, panel by panel. */
export async function drawn(cells: readonly string[], signal: AbortSignal): Promise<Blob> {
  return (await ask('POST', '/api/show/preview.png', { json: cells, signal, blob: true })).body as Blob;
}
