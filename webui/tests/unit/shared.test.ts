import { afterEach, expect, test, vi } from 'vitest';
import { Hub, type TabPort, type WorkerMessage } from '../../src/lib/shared';
import type { StreamEnvironment } from '../../src/lib/stream';

afterEach(() => vi.unstubAllGlobals());

const settle = () => new Promise((done) => setTimeout(done, 0));

/** An environment with a clock that records the credentials of requests and sends what a test enqueues. */
function clock() {
  let body: ReadableStreamDefaultController<Uint8Array>;
  const requests: (string | undefined)[] = [];
  const environment: StreamEnvironment = {
    fetch: async (_, init) => {
      requests.push((init?.headers as Record<string, string>).Authorization);
      const stream = new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) });
      init?.signal?.addEventListener('abort', () => body.error(new Error('aborted')));
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
    },
    now: () => 0,
    after: () => () => {},
  };
  const send = async (text: string) => {
    body.enqueue(new TextEncoder().encode(text));
    await settle();
  };
  return { environment, requests, send };
}

class Tab implements TabPort {
  received: string[] = [];
  postMessage(message: WorkerMessage): void {
    if (message.kind === 'state') this.received.push(message.state.kind);
    else if (message.kind === 'frame') this.received.push(`${message.frame.name} ${message.frame.data}`);
    else this.received.push(`signed ${message.authorization}`);
  }
}

test('tabs share one stream, and a later tab gets the newest frames', async () => {
  const { environment, requests, send } = clock();
  const hub = new Hub(environment);
  const [first, second] = [new Tab(), new Tab()];
  hub.receive(first, { kind: 'follow', authorization: '' });
  await settle();
  await send('event: status\ndata: 1\n\nevent: panels\ndata: 2\n\nevent: status\ndata: 3\n\n');
  hub.receive(second, { kind: 'follow', authorization: '' });
  await send('event: bench\ndata: 4\n\n');
  expect(first.received).toEqual(['connecting', 'live', 'status 1', 'panels 2', 'status 3', 'bench 4']);
  expect(second.received).toEqual(['live', 'status 3', 'bench 4']);
  expect(requests).toHaveLength(1);
});

test('the stream is closed while there are no tabs', async () => {
  const { environment, requests, send } = clock();
  const hub = new Hub(environment);
  const tab = new Tab();
  hub.receive(tab, { kind: 'follow', authorization: '' });
  await settle();
  hub.receive(tab, { kind: 'leave' });
  await expect(send('event: status\ndata: 1\n\n')).rejects.toThrow();
  expect(tab.received).toEqual(['connecting', 'live']);
  hub.receive(tab, { kind: 'follow', authorization: '' });
  await settle();
  expect(requests).toHaveLength(2);
});

test('signing in or out reconnects the stream of all tabs', async () => {
  const { environment, requests } = clock();
  const hub = new Hub(environment);
  hub.receive(new Tab(), { kind: 'follow', authorization: 'Basic A' });
  await settle();
  hub.receive(new Tab(), { kind: 'sign', authorization: 'Basic A' });
  await settle();
  expect(requests).toEqual(['Basic A']);
  hub.receive(new Tab(), { kind: 'sign', authorization: '' });
  await settle();
  expect(requests).toEqual(['Basic A', undefined]);
});

test('every tab gets the credentials of the stream, also a tab without credentials', async () => {
  const { environment } = clock();
  const hub = new Hub(environment);
  const [first, second, third] = [new Tab(), new Tab(), new Tab()];
  hub.receive(first, { kind: 'follow', authorization: 'Basic A' });
  await settle();
  hub.receive(second, { kind: 'follow', authorization: '' });
  hub.receive(third, { kind: 'follow', authorization: 'Basic A' });
  expect(second.received).toEqual(['signed Basic A', 'live']);
  expect(third.received).toEqual(['live']);
  hub.receive(third, { kind: 'sign', authorization: '' });
  await settle();
  for (const tab of [first, second, third]) expect(tab.received).toContain('signed ');
});

/** Storage of a browser with credentials from an earlier sign-in. */
function storage(items = new Map([['papertick-sign-in', 'Basic A']])) {
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
}

// The import compiles the page's modules, which is slow on a busy machine.
test(
  'without SharedWorker, sign-out deletes the stored credentials and the next request has none',
  { timeout: 120_000 },
  async () => {
    const sent: (string | undefined)[] = [];
    const [session, local] = [storage(), storage()];
    vi.stubGlobal('SharedWorker', undefined);
    vi.stubGlobal('sessionStorage', session);
    vi.stubGlobal('localStorage', local);
    vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
      sent.push((init.headers as Record<string, string>).Authorization);
      return new Promise<Response>(() => {});
    });
    // The credentials are read and the kind of event stream is chosen when the modules load.
    vi.resetModules();
    const { clock: page } = await import('../../src/state/clock.svelte');
    expect(page.signedIn).toBe(true);
    page.signOut();
    await settle();
    expect([session, local].map(({ getItem }) => getItem('papertick-sign-in'))).toEqual([null, null]);
    expect(sent).toEqual([undefined]);
  },
);
