/** The event stream of a tab: shared with other tabs through a `SharedWorker`, or its own if the browser has none. */
import { EVENTS, type TabMessage, type WorkerMessage } from '../lib/shared';
import { currentAuthorization, removeStoredCredentials, useAuthorization } from '../lib/credentials';
import { EventStream, type StreamListener } from '../lib/stream';

export interface EventsListener extends StreamListener {
  /** Another tab signed in or out. */
  signed(): void;
}

export interface Events {
  start(): void;
  /** Skips the remaining delay before the next attempt. */
  retryNow(): void;
  /** Reconnects with the current credentials. */
  signedIn(): void;
}

export function events(listener: EventsListener): Events {
  return typeof SharedWorker === 'function' ? shared(listener) : own(listener);
}

function own(listener: EventsListener): Events {
  const stream = new EventStream(EVENTS, listener);
  return { start: () => stream.start(), retryNow: () => stream.retryNow(), signedIn: () => stream.restart() };
}

function shared(listener: EventsListener): Events {
  const worker = new SharedWorker(new URL('../worker.ts', import.meta.url), { type: 'module', name: 'papertick' });
  let fallback: Events | undefined;
  const post = (message: TabMessage) => worker.port.postMessage(message);
  worker.port.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
    if (data.kind === 'state') listener.state(data.state);
    else if (data.kind === 'frame') listener.frame(data.frame);
    else {
      useAuthorization(data.authorization);
      if (data.authorization === '') removeStoredCredentials();
      listener.signed();
    }
  };
  // If the worker cannot be loaded, the tab uses a stream of its own.
  worker.onerror = () => {
    if (fallback) return;
    fallback = own(listener);
    fallback.start();
  };
  const follow = () => post({ kind: 'follow', authorization: currentAuthorization() });
  addEventListener('pagehide', () => post({ kind: 'leave' }));
  addEventListener('pageshow', ({ persisted }) => persisted && follow());
  return {
    start: follow,
    retryNow: () => (fallback ? fallback.retryNow() : post({ kind: 'retry' })),
    signedIn: () => (fallback ? fallback.signedIn() : post({ kind: 'sign', authorization: currentAuthorization() })),
  };
}
