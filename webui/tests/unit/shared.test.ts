import { afterEach, expect, test, vi } from 'vitest';
import { Hub, type Port, type Word } from '../../src/lib/shared';
import type { StreamWorld } from '../../src/lib/stream';

afterEach(() => vi.unstubAllGlobals());

const settle = () => new Promise((done) => setTimeout(done, 0));

/** A clock that is asked for its stream, and a tab. */
function clock() {
  let told: ReadableStreamDefaultController<Uint8Array>;
  const asked: (string | undefined)[] = [];
  const world: StreamWorld = {
    fetch: async (_, init) => {
      asked.push((init?.headers as Record<string, string>).Authorization);
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (told = controller) });
      init?.signal?.addEventListener('abort', () => told.error(new Error('aborted')));
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
    now: () => 0,
    after: () => () => {},
  };
  const say = async (text: string) => {
    told.enqueue(new TextEncoder().encode(text));
    await settle();
  };
  return { world, asked, say };
}

class Tab implements Port {
  heard: string[] = [];
  postMessage(word: Word): void {
    if (word.kind === 'state') this.heard.push(word.state.kind);
    else if (word.kind === 'frame') this.heard.push(`${word.frame.name} ${word.frame.data}`);
    else this.heard.push(`signed ${word.authorization}`);
  }
}

test('tabs share one stream, and who comes later knows the newest', async () => {
  const { world, asked, say } = clock();
  const hub = new Hub(world);
  const [first, second] = [new Tab(), new Tab()];
  hub.hear(first, { kind: 'follow', authorization: '' });
  await settle();
  await say('event: status\ndata: 1\n\nevent: panels\ndata: 2\n\nevent: status\ndata: 3\n\n');
  hub.hear(second, { kind: 'follow', authorization: '' });
  await say('event: bench\ndata: 4\n\n');
  expect(first.heard).toEqual(['connecting', 'live', 'status 1', 'panels 2', 'status 3', 'bench 4']);
  expect(second.heard).toEqual(['live', 'status 3', 'bench 4']);
  expect(asked).toHaveLength(1);
});

test('without tabs there is no stream', async () => {
  const { world, asked, say } = clock();
  const hub = new Hub(world);
  const tab = new Tab();
  hub.hear(tab, { kind: 'follow', authorization: '' });
  await settle();
  hub.hear(tab, { kind: 'leave' });
  await expect(say('event: status\ndata: 1\n\n')).rejects.toThrow();
  expect(tab.heard).toEqual(['connecting', 'live']);
  hub.hear(tab, { kind: 'follow', authorization: '' });
  await settle();
  expect(asked).toHaveLength(2);
});

test('who signs in, or out, does so for all tabs', async () => {
  const { world, asked } = clock();
  const hub = new Hub(world);
  hub.hear(new Tab(), { kind: 'follow', authorization: 'Basic A' });
  await settle();
  hub.hear(new Tab(), { kind: 'sign', authorization: 'Basic A' });
  await settle();
  expect(asked).toEqual(['Basic A']);
  hub.hear(new Tab(), { kind: 'sign', authorization: '' });
  await settle();
  expect(asked).toEqual(['Basic A', undefined]);
});

test('every tab asks as who is signed in, also one that has no credentials of its own', async () => {
  const { world } = clock();
  const hub = new Hub(world);
  const [first, second, third] = [new Tab(), new Tab(), new Tab()];
  hub.hear(first, { kind: 'follow', authorization: 'Basic A' });
  await settle();
  hub.hear(second, { kind: 'follow', authorization: '' });
  hub.hear(third, { kind: 'follow', authorization: 'Basic A' });
  expect(second.heard).toEqual(['signed Basic A', 'live']);
  expect(third.heard).toEqual(['live']);
  hub.hear(third, { kind: 'sign', authorization: '' });
  await settle();
  for (const tab of [first, second, third]) expect(tab.heard).toContain('signed ');
});

/** Storage of a browser, with the credentials of an earlier sign-in. */
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
  { timeout: 30_000 },
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
