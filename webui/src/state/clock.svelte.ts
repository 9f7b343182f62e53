/** State of the clock: connection, status and settings. */
import { t } from '../lib/words';
import { explain, HttpError, request, Unreachable, type RequestOptions } from '../lib/api';
import {
  currentAuthorization,
  encoded,
  removeStoredCredentials,
  storeCredentials,
  STORED,
  storedPersistence,
  useAuthorization,
  type Persistence,
} from '../lib/credentials';
import type { Frame } from '../lib/sse';
import { EventStream, type StreamState } from '../lib/stream';
import type { BenchState, Manifest, Status } from '../lib/documents.gen';
import type { Settings } from '../lib/types';
import { bench } from './bench.svelte';
import { glass } from './glass.svelte';
import { notices } from './notices.svelte';
import { RESTART, SETTINGS } from '../lib/operations';

/** How long the event stream of a hidden page stays open, ms. Browsers limit the connections to a host. */
const HIDDEN_MS = 60_000;

class Clock {
  status = $state.raw<Status | null>(null);
  /** When the status arrived, ms. */
  statusAt = $state(0);
  settings = $state.raw<Settings | null>(null);
  settingsTag: string | null = null;
  /** The one panel shows several screens, or changes slowly; it does not follow the rotation. */
  isBoard = $derived(this.settings?.hasOnePanel && (this.settings.hasSlowPanel || this.settings.panelLayout === 1));
  /** Called with newer settings before they are shown. */
  onSettings: (old: Settings | null, fresh: Settings) => void = () => {};
  stream = $state.raw<StreamState>({ kind: 'connecting' });
  /** Why the settings could not be loaded; empty if they could. */
  settingsFailure = $state('');
  /** The clock accepted a restart and has not reconnected. */
  restarting = $state(false);
  /** The last status reported an update in progress. */
  updating = $state(false);
  /** Manifest of this page, read when it was loaded. */
  manifest = $state.raw<Manifest | null>(null);
  /** The clock serves another version of the page. */
  outdated = $state(false);
  /** The page has credentials. */
  signedIn = $state.raw(currentAuthorization() !== '');
  /** Credentials that the clock requires after its next restart; empty if this page has not changed them. */
  #later = '';
  #isLoading = false;
  /** The status named newer settings while the settings were being loaded. */
  #mustReload = false;
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  /** The event stream, including the signals of a simulated board. */
  #events = new EventStream('/events?bench', {
    state: (state) => this.#onState(state),
    frame: (frame) => this.#onFrame(frame),
  });

  start(): void {
    this.#events.start();
    glass.start();
    this.#onVisibility();
    addEventListener('online', () => this.#onVisibility());
    document.addEventListener('visibilitychange', () => this.#onVisibility());
    addEventListener('storage', ({ key, newValue }) => {
      // Another tab signed in to stay, or out (an empty text). One that keeps its sign-in to itself only removes the value.
      if (key === STORED && newValue !== null && newValue !== currentAuthorization()) this.#use(newValue);
    });
  }

  #onVisibility(): void {
    clearTimeout(this.#hiddenTimer);
    if (document.visibilityState !== 'visible') {
      this.#hiddenTimer = setTimeout(() => this.#events.stop(), HIDDEN_MS);
      return;
    }
    this.retry();
    this.#checkSettings();
  }

  /** Reconnects immediately. */
  retry(): void {
    if (this.stream.kind !== 'locked') this.#events.retryNow();
  }

  /** Signs in; returns an error text, or an empty one after success. */
  async signIn(user: string, password: string, persistence: Persistence): Promise<string> {
    const before = currentAuthorization();
    useAuthorization(encoded(user, password));
    try {
      await request('GET', '/api/status');
    } catch (failure) {
      useAuthorization(before);
      if (failure instanceof HttpError && failure.status === 401) return t('The user name or the password is wrong.');
      return explain(failure);
    }
    storeCredentials(persistence);
    this.#use(currentAuthorization());
    return '';
  }

  /** Signs in with these credentials as soon as the clock requires others than now. */
  signInLater(user: string, password: string): void {
    this.#later = encoded(user, password);
  }

  /** Removes the credentials and all data of the clock, in all tabs. */
  signOut(): void {
    this.#use('');
  }

  /** Reconnects with other credentials; with none, everything is removed. */
  #use(authorization: string): void {
    useAuthorization(authorization);
    this.signedIn = authorization !== '';
    if (!this.signedIn) {
      this.#later = '';
      removeStoredCredentials();
      this.#clear();
    }
    this.#events.restart();
    // A hidden tab closes its new connection, too.
    if (document.visibilityState !== 'visible') this.#onVisibility();
  }

  async loadSettings(): Promise<void> {
    this.#isLoading = true;
    try {
      const response = await request('GET', SETTINGS);
      const fresh = response.body as Settings;
      this.onSettings(this.settings, fresh);
      this.settings = fresh;
      this.settingsTag = response.etag;
      this.settingsFailure = '';
    } catch (failure) {
      this.settingsFailure = explain(failure);
    } finally {
      this.#isLoading = false;
      const mustReload = this.#mustReload;
      this.#mustReload = false;
      if (mustReload) this.#checkSettings();
    }
  }

  /** Sends a request and shows a notice if it fails; `done` is the notice after success. True after success. */
  async send(method: string, path: string, options: RequestOptions = {}, done = ''): Promise<boolean> {
    try {
      await request(method, path, options);
      if (done) notices.add('ok', done);
      return true;
    } catch (failure) {
      notices.add('bad', explain(failure));
      return false;
    }
  }

  async restart(): Promise<void> {
    this.restarting = await this.send('POST', RESTART);
  }

  #onState(state: StreamState): void {
    if (state.kind === 'locked' && this.#later) {
      useAuthorization(this.#later);
      this.#later = '';
      storeCredentials(storedPersistence());
      this.#use(currentAuthorization());
      return;
    }
    const before = this.stream.kind;
    this.stream = state;
    if (state.kind === 'locked') this.#clear();
    if (state.kind === 'live' && before !== 'live') {
      this.restarting = false;
      this.updating = false;
      // The panels may have changed while there was no connection.
      glass.all();
      void this.loadSettings();
      void this.#checkPage();
    }
    if (state.kind === 'away') void glass.restore();
    // After a reconnect the clock may be another one, without a bench.
    if (state.kind !== 'live') bench.state = null;
  }

  #onFrame({ name, data }: Frame): void {
    if (name === 'status') this.#onStatus(JSON.parse(data) as Status);
    if (name === 'panels') glass.changed(data);
    if (name === 'bench') bench.state = JSON.parse(data) as BenchState;
  }

  async #checkPage(): Promise<void> {
    try {
      const manifest = (await request('GET', '/manifest.json')).body as Manifest;
      this.manifest ??= manifest;
      this.outdated = this.manifest.commit !== manifest.commit;
    } catch (failure) {
      // The development server has no manifest.
      if (!(failure instanceof HttpError || failure instanceof Unreachable)) throw failure;
    }
  }

  #onStatus(status: Status): void {
    this.status = status;
    this.statusAt = Date.now();
    if (status.isOTAUpdating) this.updating = true;
    glass.count = status.panels.length;
    this.#checkSettings();
  }

  /** Reloads the settings if the status names another version: other clients can change settings too. */
  #checkSettings(): void {
    const newest = this.status?.settingsTag;
    const isCurrent = this.settings !== null && newest === this.settingsTag;
    if (newest === undefined || isCurrent || document.visibilityState !== 'visible') return;
    if (this.#isLoading) {
      this.#mustReload = true;
      return;
    }
    if (this.stream.kind === 'live') void this.loadSettings();
  }

  #clear(): void {
    this.status = null;
    this.settings = null;
    this.settingsTag = null;
    bench.state = null;
    glass.clear();
  }
}

export const clock = new Clock();
