/** The clock as the page knows it: its status, its settings, and whether it is there. */
import { ask, explain, Refused, type Ask } from '../lib/api';
import { EventStream, type StreamState } from '../lib/stream';
import type { Settings, Status } from '../lib/types';
import { glass } from './glass.svelte';
import { notices } from './notices.svelte';

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
  #events = new EventStream('/events', {
    state: (state) => this.#streamed(state),
    frame: (frame) => {
      if (frame.name === 'status') this.#take(JSON.parse(frame.data) as Status);
      if (frame.name === 'panels') glass.changed(frame.data);
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
    await this.loadSettings();
    try {
      this.#take((await ask('GET', '/api/status')).body as Status);
    } catch (failure) {
      if (failure instanceof Refused) notices.add('bad', explain(failure));
    }
  }

  #take(status: Status): void {
    this.status = status;
    this.statusAt = Date.now();
    glass.count = status.numScreens;
  }
}

export const clock = new Clock();
