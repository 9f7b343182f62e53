/** The edited settings; they outlive a change of view. */
import { t } from '../lib/words';
import { ask, explain, Refused } from '../lib/api';
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
  /** What the clock found wrong at the last try. */
  refused = $state.raw<Fault[]>([]);
  /** Keys that somebody else changed too. */
  both = $state.raw<string[]>([]);
  /** What waits for a restart that the person puts off. */
  later = $state('');
  /** The notice that others changed the settings, while it is up. */
  #overtakenNotice = 0;
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

  /** Takes what the clock has. */
  unset(key: string): void {
    if (clock.settings) this.set(key, stored(clock.settings, key));
  }

  discard(): void {
    this.edits = {};
    this.refused = [];
    this.both = [];
    notices.drop(this.#overtakenNotice);
  }

  /** Takes newer settings under the edits. */
  rebase(old: Settings | null, fresh: Settings): void {
    if (!old || this.count === 0) return;
    const result = rebase(this.edits, old, fresh);
    this.edits = result.edits;
    this.both = [...new Set([...this.both.filter((key) => key in result.edits), ...result.both])];
  }

  /** Saves the edits; gives back the key of the first fault, if there is one. */
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

  async #send(settings: Settings, mayRepeat: boolean): Promise<string | undefined> {
    const headers: Record<string, string> = clock.settingsTag ? { 'If-Match': clock.settingsTag } : {};
    try {
      const answer = await ask('PATCH', SETTINGS, { json: patchOf(settings, this.edits), headers });
      if ((answer.body as RestartRequired | null)?.rebootRequired) this.later = '';
      this.discard();
      await clock.loadSettings();
      notices.add('ok', t('Saved.'));
      this.refused = clearedIn(answer.reason);
      for (const { text } of this.refused.slice(0, 1)) notices.add('bad', text);
      return this.refused[0]?.key;
    } catch (failure) {
      if (failure instanceof Refused && failure.status === 412) return this.#overtaken(mayRepeat);
      if (failure instanceof Refused && failure.status === 400) return this.#faulty(failure);
      notices.add('bad', explain(failure));
      return undefined;
    }
  }

  /** Somebody else saved first: what only we changed is saved on top of it, the rest is for the person to decide. */
  async #overtaken(mayRepeat: boolean): Promise<string | undefined> {
    this.both = [];
    await clock.loadSettings();
    if (!clock.settings) return undefined;
    if (this.count === 0) {
      notices.add('ok', t('Somebody else made the same change already.'));
      return undefined;
    }
    if (this.both.length === 0 && mayRepeat) return this.#send(clock.settings, false);
    const names = this.both.map(nameOf).join(', ');
    this.#overtakenNotice = notices.add(
      'bad',
      names
        ? t(
            'Somebody else changed the settings meanwhile ({names}). Your changes are kept; look at them and save again.',
            {
              names,
            },
          )
        : t('Somebody else changed the settings meanwhile. Your changes are kept; look at them and save again.'),
    );
    return this.both[0];
  }

  #faulty({ token, hint }: Refused): string | undefined {
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
