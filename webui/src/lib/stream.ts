/** Follows `/events` for as long as the page is open. */
import { at } from './root';
import { Backoff, type Ending } from './backoff';
import { signed } from './sign';
import { FrameReader, type Frame } from './sse';

/** A clock that closed on purpose is back by then, ms. */
const RESTART_MOST_MS = 60_000;

/** The clock sends a ping every 5 s; three missed ones mean that the connection is dead. */
const SILENCE_MS = 16_000;

/**
 * State of the connection; `locked` is a clock that wants to know who asks, and is not asked again before somebody
 * signs in.
 */
export type StreamState = { kind: 'connecting' } | { kind: 'live' } | { kind: 'locked' } | Away;

export interface Away {
  kind: 'away';
  /** When it is tried again, ms. */
  until: number;
  /** The clock said that it closes, so it is about to be back. */
  closing: boolean;
}

export interface StreamWorld {
  fetch: typeof fetch;
  now(): number;
  after(ms: number, run: () => void): () => void;
}

export const browserWorld: StreamWorld = {
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

/** One connection at a time, opened again with back-off whenever it ends. */
export class EventStream {
  #backoff = new Backoff();
  #abort: AbortController | undefined;
  #cancelWait: (() => void) | undefined;
  /** When the clock said that it closes, ms; it has not come back since. */
  #closedAt: number | undefined;
  #lastByteAt = 0;

  constructor(
    private readonly url: string,
    private readonly listener: StreamListener,
    private readonly world: StreamWorld = browserWorld,
  ) {}

  /** When the last bytes of a stream arrived, pings included, ms; 0 before the first ones. */
  get lastByteAt(): number {
    return this.#lastByteAt;
  }

  start(): void {
    void this.#connect();
  }

  stop(): void {
    const abort = this.#abort;
    this.#abort = undefined;
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    abort?.abort();
  }

  /** Connects anew at once: who asks has changed. */
  restart(): void {
    this.stop();
    this.start();
  }

  /** Ends a waiting time early: the person asked for it, or the network came back. */
  retryNow(): void {
    if (!this.#cancelWait) return;
    this.#cancelWait();
    this.#cancelWait = undefined;
    void this.#connect();
  }

  async #connect(): Promise<void> {
    this.listener.state({ kind: 'connecting' });
    const abort = new AbortController();
    this.#abort = abort;
    let ending: Ending = 'broken';
    let locked = false;
    let cancelSilence = () => {};
    const notSilentFor = (ms: number) => {
      cancelSilence();
      cancelSilence = this.world.after(ms, () => abort.abort());
    };
    try {
      notSilentFor(SILENCE_MS);
      const answer = await this.world.fetch(at(this.url), {
        headers: { Accept: 'text/event-stream', ...signed() },
        cache: 'no-store',
        signal: abort.signal,
      });
      locked = answer.status === 401;
      const kind = answer.headers.get('content-type') ?? '';
      if (!answer.ok || !answer.body || !kind.startsWith('text/event-stream')) {
        throw new Error(`no event stream: ${answer.status}`);
      }
      notSilentFor(SILENCE_MS);
      this.#lastByteAt = this.world.now();
      this.#backoff.reset();
      this.#closedAt = undefined;
      this.listener.state({ kind: 'live' });
      const reader = new FrameReader();
      const decoder = new TextDecoder();
      const body = answer.body.getReader();
      for (;;) {
        const { done, value } = await body.read();
        if (done) break;
        notSilentFor(SILENCE_MS);
        this.#lastByteAt = this.world.now();
        for (const frame of reader.push(decoder.decode(value, { stream: true }))) {
          if (frame.name === 'message' && frame.data === 'closing') ending = 'closing';
          else this.listener.frame(frame);
        }
      }
    } catch {
      // Every way to fail is answered the same: wait, then try again.
    }
    cancelSilence();
    const superseded = this.#abort !== abort;
    abort.abort();
    // It was stopped, or another one took its place.
    if (superseded) return;
    if (locked) {
      this.listener.state({ kind: 'locked' });
      this.#cancelWait = () => {};
      return;
    }
    const now = this.world.now();
    if (ending === 'closing') this.#closedAt = now;
    const wait = this.#backoff.next(ending);
    const closing = this.#closedAt !== undefined && now - this.#closedAt < RESTART_MOST_MS;
    this.listener.state({ kind: 'away', until: now + wait, closing });
    this.#cancelWait = this.world.after(wait, () => {
      this.#cancelWait = undefined;
      void this.#connect();
    });
  }
}
