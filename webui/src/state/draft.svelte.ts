/** The unsaved edits of the settings; they are preserved when the view changes. */
import { t } from '../lib/words';
import { explain, HttpError, request } from '../lib/api';
import type { RestartRequired } from '../lib/documents.gen';
import { edited, patchOf, rebase, shown, stored, type Edits } from '../lib/draft';
import { advice, clearedIn, faultOf, faults, type Fault } from '../lib/faults';
import { FIELDS } from '../lib/fields';
import { nameOf } from '../lib/values';
import type { Settings } from '../lib/types';
import { clock } from './clock.svelte';
import { notices } from './notices.svelte';
import { SETTINGS } from '../lib/operations';

class Draft {
  edits = $state.raw<Edits>({});
  saving = $state(false);
  /** Errors that the clock reported for the last attempt to save. */
  refused = $state.raw<Fault[]>([]);
  /** Keys with conflicts: another client changed them too. */
  both = $state.raw<string[]>([]);
  /** Keys of saved settings whose restart was postponed, joined. */
  later = $state('');
  /** Id of the notice about a conflict. */
  #conflictNotice = 0;
  readonly count = $derived(Object.keys(this.edits).length);
  readonly faults = $derived.by(() => {
    if (!clock.settings) return [];
    const own = faults(clock.settings, this.edits, FIELDS);
    return [...own, ...this.refused.filter(({ key }) => !own.some((fault) => fault.key === key))];
  });

  readonly advice = $derived(clock.settings ? advice(clock.settings, this.edits) : []);

  read = (key: string): unknown => (clock.settings ? shown(clock.settings, this.edits, key) : undefined);

  fault(key: string): string {
    return this.faults.find((fault) => fault.key === key)?.text ?? '';
  }

  set(key: string, value: unknown): void {
    if (!clock.settings) return;
    this.edits = edited(clock.settings, this.edits, key, value);
    this.refused = this.refused.filter((fault) => fault.key !== key);
    this.both = this.both.filter((other) => other !== key);
  }

  /** Drops the edit of a key. */
  unset(key: string): void {
    if (clock.settings) this.set(key, stored(clock.settings, key));
  }

  discard(): void {
    this.edits = {};
    this.refused = [];
    this.both = [];
    notices.drop(this.#conflictNotice);
  }

  /** Applies the edits to newer settings. */
  rebase(old: Settings | null, fresh: Settings): void {
    if (!old || this.count === 0) return;
    const result = rebase(this.edits, old, fresh);
    this.edits = result.edits;
    this.both = [...new Set([...this.both.filter((key) => key in result.edits), ...result.both])];
  }

  /** Saves the edits; returns the key of the first fault, if there is one. */
  async save(): Promise<string | undefined> {
    const settings = clock.settings;
    if (!settings || this.saving) return undefined;
    const own = faults(settings, this.edits, FIELDS);
    if (own[0]) return own[0].key;
    this.saving = true;
    try {
      return await this.#send(settings, true);
    } finally {
      this.saving = false;
    }
  }

  async #send(settings: Settings, mayRetry: boolean): Promise<string | undefined> {
    const sent = this.edits;
    const headers: Record<string, string> = clock.settingsTag ? { 'If-Match': clock.settingsTag } : {};
    try {
      const response = await request('PATCH', SETTINGS, { json: patchOf(settings, sent), headers });
      if ((response.body as RestartRequired | null)?.rebootRequired) this.later = '';
      if (sent.httpAuthPass) clock.signInLater(String(this.read('httpAuthUser')), String(sent.httpAuthPass));
      // What was edited meanwhile is not saved yet.
      const newer = Object.entries(this.edits).filter(([key, value]) => value !== sent[key]);
      this.discard();
      this.edits = Object.fromEntries(newer);
      await clock.loadSettings();
      notices.add('ok', t('Saved.'));
      this.refused = clearedIn(response.reason);
      for (const { text } of this.refused.slice(0, 1)) notices.add('bad', text);
      return this.refused[0]?.key;
    } catch (failure) {
      if (failure instanceof HttpError && failure.status === 412) return this.#onConflict(mayRetry);
      if (failure instanceof HttpError && failure.status === 400) return this.refuse(failure);
      notices.add('bad', explain(failure));
      return undefined;
    }
  }

  /** Handles 412, because another client saved first: saves again unless both changed the same keys. */
  async #onConflict(mayRetry: boolean): Promise<string | undefined> {
    this.both = [];
    await clock.loadSettings();
    if (!clock.settings) return undefined;
    if (this.count === 0) {
      notices.add('ok', t('The same change was already saved elsewhere.'));
      return undefined;
    }
    if (this.both.length === 0 && mayRetry) return this.#send(clock.settings, false);
    const names = this.both.map(nameOf).join(', ');
    this.#conflictNotice = notices.add(
      'bad',
      names
        ? t(
            'The settings were changed elsewhere meanwhile ({names}). Your changes are still here; check them and save again.',
            { names },
          )
        : t('The settings were changed elsewhere meanwhile. Your changes are still here; check them and save again.'),
    );
    return this.both[0];
  }

  /** Handles 400: shows the error at its field, and returns its key. */
  refuse({ token, hint }: HttpError): string | undefined {
    const fault = faultOf(token, FIELDS, hint);
    if (!fault.key) {
      notices.add('bad', fault.text);
      return undefined;
    }
    this.refused = [fault];
    return fault.key;
  }
}

export const draft = new Draft();

clock.onSettings = (old, fresh) => draft.rebase(old, fresh);
addEventListener('beforeunload', (event) => {
  if (draft.count > 0) event.preventDefault();
});
