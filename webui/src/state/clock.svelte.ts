/** The clock as the page knows it: its status, its settings, and whether it is there. */
import { ask, explain, Refused, type Ask } from '../lib/api';
import { EventStream, type StreamState } from '../lib/stream';
import type { Settings, Status } from '../lib/types';
import type { Manifest } from '../lib/version';
import { glass } from './glass.svelte';
import { notices } from './notices.svelte';

/** Panels are repainted within this time after their text changed, ms. */
const REPAINT_MS = 8_000;

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
  /** What the page was when it was loaded. */
  manifest = $state.raw<Manifest | null>(null);
  /** The clock has another page by now. */
  outdated = $state(false);
  #repaint: ReturnType<typeof setTimeout> | undefined;
  #events = new EventStream('/events', {
    state: (state) => this.#streamed(state),
    frame: (frame) => {
      if (frame.name === 'status') this.#take(JSON.parse(frame.data) as Status);
      if (frame.name === 'panels') {
        clearTimeout(this.#repaint);
        glass.changed(frame.data);
      }
    },
  });

  start(): void {
    this.#events.start();
    addEventListener('online', () => this.#events.retryNow());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState !== 'visible') return;
      this.retry();
      // Others can change settings too, and the stream does not tell.
      if (this.stream.kind === 'live') void this.loadSettings();
    });
  }

  /** Tries to reach the clock at once. */
  retry(): void {
    this.#events.retryNow();
  }

  async loadSettings(): Promise<void> {
    try {
      const answer = await ask('GET', '/api/settings');
      const fresh = answer.body as Settings;
      this.onSettings(this.settings, fresh);
      this.settings = fresh;
      this.settingsTag = answer.etag;
      this.settingsFailure = '';
    } catch (failure) {
      this.settingsFailure = explain(failure);
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
    this.restarting = await this.wish('POST', '/api/restart');
  }

  #streamed(state: StreamState): void {
    const was = this.stream.kind;
    this.stream = state;
    if (state.kind === 'live' && was !== 'live') {
      this.restarting = false;
      void this.#refresh();
    }
  }

  /** What happened while the page was away is asked for, not guessed. */
  async #refresh(): Promise<void> {
    glass.changed('all');
    await Promise.all([this.loadSettings(), this.#checkPage()]);
    try {
      this.#take((await ask('GET', '/api/status')).body as Status);
    } catch (failure) {
      if (failure instanceof Refused) notices.add('bad', explain(failure));
    }
  }

  async #checkPage(): Promise<void> {
    try {
      const manifest = (await ask('GET', '/manifest.json')).body as Manifest;
      this.manifest ??= manifest;
      this.outdated = this.manifest.commit !== manifest.commit;
    } catch {
      // A page without a manifest is one under development.
    }
  }

  #take(status: Status): void {
    if (this.status && status.data.join() !== this.status.data.join()) {
      // A client that lags may have missed what was repainted.
      clearTimeout(this.#repaint);
      this.#repaint = setTimeout(() => glass.changed('all'), REPAINT_MS);
    }
    this.status = status;
    this.statusAt = Date.now();
    glass.count = status.numScreens;
  }
}

export const clock = new Clock();
