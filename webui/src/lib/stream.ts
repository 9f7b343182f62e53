/** A connection to the event stream of the clock that reconnects by itself. */
import { requestAddress } from './root';
import { Backoff } from './backoff';
import { authHeaders } from './credentials';
import { FrameReader, type Frame } from './sse';

/** Time after a closing frame during which the clock is considered to be restarting, ms. */
const RESTART_MOST_MS = 60_000;

/** Timeout between bytes: the clock sends a ping every 5 s, and three missed pings mean a dead connection, ms. */
const SILENCE_MS = 16_000;

/** State of the connection. `locked`: the clock requires credentials, and the next attempt waits for a sign-in. */
export type StreamState = { kind: 'connecting' } | { kind: 'live' } | { kind: 'locked' } | Away;

export interface Away {
  kind: 'away';
  /** Time of the next attempt, ms. */
  until: number;
  /** The clock sent a closing frame, so it is probably restarting. */
  closing: boolean;
}

/** The functions of the browser that a stream needs; tests replace them. */
export interface StreamEnvironment {
  fetch: typeof fetch;
  now(): number;
  after(ms: number, run: () => void): () => void;
}

export const browserEnvironment: StreamEnvironment = {
  fetch: (input, init) => fetch(input, init),
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export interface StreamListener {
  state(state: StreamState): void;
  frame(frame: Frame): void;
}

/** One connection at a time; reconnects with backoff when it ends. */
export class EventStream {
  #backoff = new Backoff();
  #abort: AbortController | undefined;
  #cancelWait: (() => void) | undefined;
  /** Time of the last closing frame, ms; undefined after a reconnect. */
  #closedAt: number | undefined;
  #lastByteAt = 0;

  constructor(
    private readonly url: string,
    private readonly listener: StreamListener,
    private readonly environment: StreamEnvironment = browserEnvironment,
  ) {}

  /** Time of the last received bytes, including pings, ms; 0 before the first. */
  get lastByteAt(): number {
    return this.#lastByteAt;
  }

  start(): void {
    void this.#connect();
  }

  /** Closes the connection until a restart, or until `retryNow`. */
  stop(): void {
    const abort = this.#abort;
    this.#abort = undefined;
    this.#cancelWait?.();
    this.#cancelWait = () => {};
    abort?.abort();
  }

  /** Reconnects immediately, because the credentials have changed. */
  restart(): void {
    this.stop();
    this.start();
  }

  /** Skips the remaining delay before the next attempt. */
  retryNow(): void {
    if (!this.#cancelWait) return;
    this.#cancelWait();
    void this.#connect();
  }

  async #connect(): Promise<void> {
    this.#cancelWait = undefined;
    this.listener.state({ kind: 'connecting' });
    const abort = new AbortController();
    this.#abort = abort;
    let locked = false;
    let cancelSilence = () => {};
    let lastAt = this.environment.now();
    const restartTimeout = () => {
      const now = this.environment.now();
      // Timers stand still while the device sleeps: these bytes may be as old as the sleep was long.
      if (now - lastAt > SILENCE_MS) throw new Error('bytes after too long a silence');
      lastAt = now;
      cancelSilence();
      cancelSilence = this.environment.after(SILENCE_MS, () => abort.abort());
    };
    try {
      restartTimeout();
      const answer = await this.environment.fetch(requestAddress(this.url), {
        headers: { Accept: 'text/event-stream', ...authHeaders() },
        cache: 'no-store',
        signal: abort.signal,
      });
      locked = answer.status === 401;
      const kind = answer.headers.get('content-type') ?? '';
      if (!answer.ok || !answer.body || !kind.startsWith('text/event-stream')) {
        throw new Error(`no event stream: ${answer.status}`);
      }
      restartTimeout();
      this.#lastByteAt = lastAt;
      this.#backoff.reset();
      this.#closedAt = undefined;
      this.listener.state({ kind: 'live' });
      const reader = new FrameReader();
      const decoder = new TextDecoder();
      const body = answer.body.getReader();
      for (;;) {
        const { done, value } = await body.read();
        if (done) break;
        restartTimeout();
        this.#lastByteAt = lastAt;
        for (const frame of reader.push(decoder.decode(value, { stream: true }))) {
          if (frame.name === 'message' && frame.data === 'closing') this.#closedAt = this.environment.now();
          else this.listener.frame(frame);
        }
      }
    } catch {
      // All failures are handled the same: wait, then try again.
    }
    cancelSilence();
    const superseded = this.#abort !== abort;
    abort.abort();
    // The stream was stopped or restarted meanwhile.
    if (superseded) return;
    if (locked) {
      this.listener.state({ kind: 'locked' });
      this.#cancelWait = () => {};
      return;
    }
    const now = this.environment.now();
    const closing = this.#closedAt !== undefined && now - this.#closedAt < RESTART_MOST_MS;
    const wait = this.#backoff.next(closing);
    this.listener.state({ kind: 'away', until: now + wait, closing });
    this.#cancelWait = this.environment.after(wait, () => void this.#connect());
  }
}
