/** The clock as the page knows it: its status, its settings, and whether it is there. */
import { t } from '../lib/words';
import { ask, explain, Refused, Unreachable, type Ask } from '../lib/api';
import { current, encoded, forget, remember, use, type Keep } from '../lib/sign';
import type { Frame } from '../lib/sse';
import type { StreamState } from '../lib/stream';
import type { BenchState, Manifest, Status } from '../lib/documents.gen';
import type { Settings } from '../lib/types';
import { bench } from './bench.svelte';
import { events } from './events';
import { glass } from './glass.svelte';
import { notices } from './notices.svelte';
import { RESTART, SETTINGS } from '../lib/operations';

class Clock {
  status = $state.raw<Status | null>(null);
  /** When the status arrived, ms. */
  statusAt = $state(0);
  settings = $state.raw<Settings | null>(null);
  settingsTag: string | null = null;
  /** Told of newer settings before they are shown. */
  onSettings: (old: Settings | null, fresh: Settings) => void = () => {};
  stream = $state.raw<StreamState>({ kind: 'connecting' });
  /** Why the settings could not be read, while they are missing. */
  settingsFailure = $state('');
  /** The clock was asked to restart and has not come back. */
  restarting = $state(false);
  /** An update was being installed when the clock was last heard of. */
  updating = $state(false);
  /** What the page was when it was loaded. */
  manifest = $state.raw<Manifest | null>(null);
  /** The clock has another page by now. */
  outdated = $state(false);
  /** Somebody is signed in here. */
  signedIn = $state.raw(current() !== '');
  #reading = false;
  /** The clock named newer settings while others were read. */
  #missed = false;
  #events = events({
    state: (state) => this.#streamed(state),
    frame: (frame) => this.#framed(frame),
    signed: () => (this.signedIn = current() !== ''),
  });

  start(): void {
    this.#events.start();
    glass.start();
    addEventListener('online', () => this.#events.retryNow());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState !== 'visible') return;
      this.retry();
      this.#checkSettings();
    });
  }

  /** Tries to reach the clock at once. */
  retry(): void {
    if (this.stream.kind !== 'locked') this.#events.retryNow();
  }

  /** Signs in; tells what is wrong, or nothing. */
  async signIn(user: string, password: string, keep: Keep): Promise<string> {
    const before = current();
    use(encoded(user, password));
    try {
      await ask('GET', '/api/status');
    } catch (failure) {
      use(before);
      if (failure instanceof Refused && failure.status === 401) return t('The user name or the password is wrong.');
      return explain(failure);
    }
    remember(keep);
    this.signedIn = true;
    this.#events.signedIn();
    return '';
  }

  /** Forgets who was signed in, and all that only they may see. */
  signOut(): void {
    use('');
    forget();
    this.signedIn = false;
    this.#forget();
    this.#events.signedIn();
  }

  async loadSettings(): Promise<void> {
    this.#reading = true;
    try {
      const answer = await ask('GET', SETTINGS);
      const fresh = answer.body as Settings;
      this.onSettings(this.settings, fresh);
      this.settings = fresh;
      this.settingsTag = answer.etag;
      this.settingsFailure = '';
    } catch (failure) {
      this.settingsFailure = explain(failure);
    } finally {
      this.#reading = false;
      const missed = this.#missed;
      this.#missed = false;
      if (missed) this.#checkSettings();
    }
  }

  /** Sends a wish; a refusal is told to the person. True if the clock took it. */
  async wish(method: string, path: string, what: Ask = {}, done = ''): Promise<boolean> {
    try {
      await ask(method, path, what);
      if (done) notices.add('ok', done);
      return true;
    } catch (failure) {
      notices.add('bad', explain(failure));
      return false;
    }
  }

  async restart(): Promise<void> {
    this.restarting = await this.wish('POST', RESTART);
  }

  #streamed(state: StreamState): void {
    const was = this.stream.kind;
    this.stream = state;
    if (state.kind === 'locked') this.#forget();
    if (state.kind === 'live' && was !== 'live') {
      this.restarting = false;
      this.updating = false;
      // What happened to the panels while the page was away is asked for, not guessed.
      glass.all();
      void this.loadSettings();
      void this.#checkPage();
    }
    if (state.kind === 'away') void glass.recall();
    // A clock that comes back may be another one, with no bench.
    if (state.kind !== 'live') bench.state = null;
  }

  #framed({ name, data }: Frame): void {
    if (name === 'status') this.#take(JSON.parse(data) as Status);
    if (name === 'panels') glass.changed(data);
    if (name === 'bench') bench.state = JSON.parse(data) as BenchState;
  }

  async #checkPage(): Promise<void> {
    try {
      const manifest = (await ask('GET', '/manifest.json')).body as Manifest;
      this.manifest ??= manifest;
      this.outdated = this.manifest.commit !== manifest.commit;
    } catch (failure) {
      // A page without a manifest is one under development.
      if (!(failure instanceof Refused || failure instanceof Unreachable)) throw failure;
    }
  }

  #take(status: Status): void {
    this.status = status;
    this.statusAt = Date.now();
    if (status.isOTAUpdating) this.updating = true;
    glass.count = status.numScreens;
    this.#checkSettings();
  }

  /** Others can change settings too: the status names the version that the clock has. */
  #checkSettings(): void {
    const newest = this.status?.settingsTag;
    const known = this.settings !== null && newest === this.settingsTag;
    if (newest === undefined || known || document.visibilityState !== 'visible') return;
    if (this.#reading) {
      this.#missed = true;
      return;
    }
    if (this.stream.kind === 'live') void this.loadSettings();
  }

  #forget(): void {
    this.status = null;
    this.settings = null;
    this.settingsTag = null;
    bench.state = null;
    glass.forget();
  }
}

export const clock = new Clock();
