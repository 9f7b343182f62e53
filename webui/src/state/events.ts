/** The event stream as a tab sees it: that of a worker which all tabs share, or one of its own where there is none. */
import { EVENTS, type Wish, type Word } from '../lib/shared';
import { current, forget, use } from '../lib/sign';
import { EventStream, type StreamListener } from '../lib/stream';

export interface EventsListener extends StreamListener {
  /** Somebody signed in or out in another tab. */
  signed(): void;
}

export interface Events {
  start(): void;
  /** Ends a waiting time early. */
  retryNow(): void;
  /** Connects anew as whoever is signed in by now. */
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
  let plain: Events | undefined;
  const tell = (wish: Wish) => worker.port.postMessage(wish);
  worker.port.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.kind === 'state') listener.state(data.state);
    else if (data.kind === 'frame') listener.frame(data.frame);
    else {
      use(data.authorization);
      if (data.authorization === '') forget();
      listener.signed();
    }
  };
  // A worker that cannot be had, for what reason ever, must not leave the page without a stream.
  worker.onerror = () => {
    if (plain) return;
    plain = own(listener);
    plain.start();
  };
  const follow = () => tell({ kind: 'follow', authorization: current() });
  addEventListener('pagehide', () => tell({ kind: 'leave' }));
  addEventListener('pageshow', ({ persisted }) => persisted && follow());
  return {
    start: follow,
    retryNow: () => (plain ? plain.retryNow() : tell({ kind: 'retry' })),
    signedIn: () => (plain ? plain.signedIn() : tell({ kind: 'sign', authorization: current() })),
  };
}
