/** One event stream for all tabs: browsers limit the connections to a host, and a stream keeps one open. */
import type { Frame } from './sse';
import { EventStream, type StreamEnvironment, type StreamListener, type StreamState } from './stream';
import { useAuthorization } from './credentials';

/** The event stream, including the signals of a simulated board. */
export const EVENTS = '/events?bench';

/** A message from a tab to the worker that has the stream. */
export type TabMessage =
  | { kind: 'follow'; authorization: string }
  | { kind: 'sign'; authorization: string }
  | { kind: 'retry' }
  | { kind: 'leave' };

/** A message from the worker to its tabs. */
export type WorkerMessage =
  | { kind: 'state'; state: StreamState }
  | { kind: 'frame'; frame: Frame }
  /** The credentials of the stream; a tab must send its own requests with the same. */
  | { kind: 'signed'; authorization: string };

/** Names of events whose newest frame is sent to a tab that joins later. */
const REPLAYED: ReadonlySet<string> = new Set(['status', 'bench']);

/** The message port of a tab. */
export interface TabPort {
  postMessage(message: WorkerMessage): void;
}

/** Shares one stream among its tabs; the stream is closed while there are no tabs. */
export class Hub {
  #ports = new Set<TabPort>();
  #state: StreamState = { kind: 'connecting' };
  #newest = new Map<string, Frame>();
  #authorization = '';
  readonly #events: EventStream;

  constructor(environment?: StreamEnvironment) {
    const listener: StreamListener = {
      state: (state) => this.#onState(state),
      frame: (frame) => this.#onFrame(frame),
    };
    this.#events = new EventStream(EVENTS, listener, environment);
  }

  /** Handles a message from a tab. */
  receive(port: TabPort, message: TabMessage): void {
    if (message.kind === 'leave') this.#leave(port);
    else if (message.kind === 'retry') this.#events.retryNow();
    else if (message.kind === 'follow') this.#follow(port, message.authorization);
    else this.#sign(message.authorization);
  }

  #follow(port: TabPort, authorization: string): void {
    const first = this.#ports.size === 0;
    this.#ports.add(port);
    if (first) {
      this.#adopt(authorization);
      this.#events.start();
      return;
    }
    const differs = this.#authorization !== '' && authorization !== this.#authorization;
    if (differs && this.#state.kind !== 'locked') {
      port.postMessage({ kind: 'signed', authorization: this.#authorization });
    }
    port.postMessage({ kind: 'state', state: this.#state });
    for (const frame of this.#newest.values()) port.postMessage({ kind: 'frame', frame });
    const unknown = this.#authorization === '' && this.#state.kind !== 'live';
    if (authorization && (unknown || this.#state.kind === 'locked')) this.#sign(authorization);
  }

  #leave(port: TabPort): void {
    this.#ports.delete(port);
    if (this.#ports.size > 0) return;
    this.#events.stop();
    this.#newest.clear();
    this.#state = { kind: 'connecting' };
  }

  #sign(authorization: string): void {
    if (authorization === this.#authorization && this.#state.kind === 'live') return;
    this.#adopt(authorization);
    this.#broadcast({ kind: 'signed', authorization });
    this.#newest.clear();
    this.#events.restart();
  }

  #adopt(authorization: string): void {
    this.#authorization = authorization;
    useAuthorization(authorization);
  }

  #onState(state: StreamState): void {
    this.#state = state;
    // Frames of an earlier connection may be outdated.
    if (state.kind !== 'live') this.#newest.clear();
    this.#broadcast({ kind: 'state', state });
  }

  #onFrame(frame: Frame): void {
    if (REPLAYED.has(frame.name)) this.#newest.set(frame.name, frame);
    this.#broadcast({ kind: 'frame', frame });
  }

  #broadcast(message: WorkerMessage): void {
    for (const port of this.#ports) port.postMessage(message);
  }
}
