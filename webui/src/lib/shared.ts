/** One event stream for all tabs: a browser opens few connections to a host, and each stream holds one for ever. */
import type { Frame } from './sse';
import { EventStream, type StreamListener, type StreamState, type StreamWorld } from './stream';
import { use } from './sign';

/** The stream that all tabs follow, with the signals of a simulated board. */
export const EVENTS = '/events?bench';

/** What a tab says to the worker that holds the stream. */
export type Wish =
  | { kind: 'follow'; authorization: string }
  | { kind: 'sign'; authorization: string }
  | { kind: 'retry' }
  | { kind: 'leave' };

/** What the worker says to its tabs. */
export type Word =
  | { kind: 'state'; state: StreamState }
  | { kind: 'frame'; frame: Frame }
  /** Who is signed in: what a tab asks for itself must be asked by the same person as the stream. */
  | { kind: 'signed'; authorization: string };

/** Frames that a tab that comes later must know: the newest of each name. */
const KEPT: ReadonlySet<string> = new Set(['status', 'bench']);

/** What tells a tab something. */
export interface Port {
  postMessage(word: Word): void;
}

/** Shares one stream among the tabs that follow it; without any, there is none. */
export class Hub {
  #ports = new Set<Port>();
  #state: StreamState = { kind: 'connecting' };
  #newest = new Map<string, Frame>();
  #authorization = '';
  readonly #events: EventStream;

  constructor(world?: StreamWorld) {
    const listener: StreamListener = {
      state: (state) => this.#streamed(state),
      frame: (frame) => this.#framed(frame),
    };
    this.#events = new EventStream(EVENTS, listener, world);
  }

  hear(port: Port, wish: Wish): void {
    if (wish.kind === 'leave') this.#leave(port);
    else if (wish.kind === 'retry') this.#events.retryNow();
    else if (wish.kind === 'follow') this.#follow(port, wish.authorization);
    else this.#sign(wish.authorization);
  }

  #follow(port: Port, authorization: string): void {
    const first = this.#ports.size === 0;
    this.#ports.add(port);
    if (first) {
      this.#adopt(authorization);
      this.#events.start();
      return;
    }
    const lacks = this.#authorization !== '' && authorization !== this.#authorization;
    if (lacks && this.#state.kind !== 'locked') {
      port.postMessage({ kind: 'signed', authorization: this.#authorization });
    }
    port.postMessage({ kind: 'state', state: this.#state });
    for (const frame of this.#newest.values()) port.postMessage({ kind: 'frame', frame });
    const unknown = this.#authorization === '' && this.#state.kind !== 'live';
    if (authorization && (unknown || this.#state.kind === 'locked')) this.#sign(authorization);
  }

  #leave(port: Port): void {
    this.#ports.delete(port);
    if (this.#ports.size > 0) return;
    this.#events.stop();
    this.#newest.clear();
    this.#state = { kind: 'connecting' };
  }

  #sign(authorization: string): void {
    if (authorization === this.#authorization && this.#state.kind === 'live') return;
    this.#adopt(authorization);
    this.#tell({ kind: 'signed', authorization });
    this.#newest.clear();
    this.#events.restart();
  }

  #adopt(authorization: string): void {
    this.#authorization = authorization;
    use(authorization);
  }

  #streamed(state: StreamState): void {
    this.#state = state;
    // What was told on an earlier connection may be wrong by now.
    if (state.kind !== 'live') this.#newest.clear();
    this.#tell({ kind: 'state', state });
  }

  #framed(frame: Frame): void {
    if (KEPT.has(frame.name)) this.#newest.set(frame.name, frame);
    this.#tell({ kind: 'frame', frame });
  }

  #tell(word: Word): void {
    for (const port of this.#ports) port.postMessage(word);
  }
}
