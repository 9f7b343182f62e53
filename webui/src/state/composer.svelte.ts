/** Editor for custom texts: the edited text, its preview, and the saved texts. */
import { request } from '../lib/api';
import { blank, isBlank, opened, SAVED_TEXTS_MAX, type Page } from '../lib/compose';
import { SETTINGS, SHOW_CUSTOM } from '../lib/operations';
import { t } from '../lib/words';
import { clock } from './clock.svelte';
import { later } from './later.svelte';
import { notices } from './notices.svelte';

class Composer {
  /** The editor is open. */
  open = $state(false);
  page = $state.raw<Page>(blank(0));

  /** The texts that the clock stores. */
  readonly savedTexts = $derived((clock.settings?.keptTexts ?? []) as string[][]);
  readonly isSaved = $derived(this.savedTexts.some((cells) => cells.join('\n') === this.page.cells.join('\n')));
  readonly canSave = $derived(this.savedTexts.length < SAVED_TEXTS_MAX && !this.isSaved && !isBlank(this.page));

  /** Opens the editor with empty panels or with a saved text. */
  async begin(panels: number, cells: readonly string[] = []): Promise<void> {
    this.page = opened(cells, panels);
    // The clock stays visible while the editor loads.
    await later.load();
    this.open = true;
  }

  end(): void {
    this.open = false;
  }

  async show(cells: readonly string[]): Promise<void> {
    if (await clock.send('POST', SHOW_CUSTOM, { json: cells })) this.end();
  }

  async save(): Promise<void> {
    await this.#store([...this.savedTexts, [...this.page.cells]], t('Text saved.'));
  }

  async remove(index: number): Promise<void> {
    await this.#store(
      this.savedTexts.filter((_, other) => other !== index),
      t('Text removed.'),
    );
  }

  async #store(texts: readonly (readonly string[])[], done: string): Promise<void> {
    if (await clock.send('PATCH', SETTINGS, { json: { keptTexts: texts } })) {
      await clock.loadSettings();
      notices.add('ok', done);
    }
  }
}

export const composer = new Composer();

/** A preview of the panels with these texts. */
export async function drawn(cells: readonly string[], signal: AbortSignal): Promise<Blob> {
  return (await request('POST', '/api/show/preview.png', { json: cells, signal, blob: true })).body as Blob;
}
