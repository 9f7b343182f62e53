import { describe, expect, test } from 'vitest';
import { Backoff } from '../../src/lib/backoff';
import { FrameReader, type Frame } from '../../src/lib/sse';
import { use } from '../../src/lib/sign';
import { EventStream, type StreamState, type StreamWorld } from '../../src/lib/stream';

test('waits double from one second to half a minute, and start over once the stream works', () => {
  const backoff = new Backoff();
  const waits = Array.from({ length: 7 }, () => backoff.next('broken'));
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000]);
  backoff.reset();
  expect(backoff.next('broken')).toBe(1000);
});

test('a closing frame waits a flat five seconds', () => {
  const backoff = new Backoff();
  backoff.next('broken');
  expect([backoff.next('closing'), backoff.next('closing'), backoff.next('broken')]).toEqual([5000, 5000, 1000]);
});

describe('frames', () => {
  const cases: [string, string[], Frame[]][] = [
    ['named', ['event: status\ndata: {}\n\n'], [{ name: 'status', data: '{}' }]],
    ['unnamed', ['data: closing\n\n'], [{ name: 'message', data: 'closing' }]],
    ['comments are dropped', [': ping\n\n: ping\n\n'], []],
    ['in pieces', ['eve', 'nt: a\nda', 'ta: 1', '\n', '\n'], [{ name: 'a', data: '1' }]],
    ['CRLF split between pieces', ['data: 1\r', '\n\r\n'], [{ name: 'message', data: '1' }]],
    ['several data lines', ['data: 1\ndata:\ndata: 3\n\n'], [{ name: 'message', data: '1\n\n3' }]],
    ['only one space is eaten', ['data:  x\n\n'], [{ name: 'message', data: ' x' }]],
    ['unknown fields', ['id: 4\nretry: 9\nfoo\ndata: x\n\n'], [{ name: 'message', data: 'x' }]],
    ['no data, no event', ['event: x\n\ndata: y\n\n'], [{ name: 'message', data: 'y' }]],
    ['half a frame stays open', ['data: x\n'], []],
  ];
  test.each(cases)('%s', (_, pieces, frames) => {
    const reader = new FrameReader();
    expect(pieces.flatMap((piece) => reader.push(piece))).toEqual(frames);
  });
});

/** A world in which time stands still until a test moves it. */
class TestWorld implements StreamWorld {
  time = 0;
  timers: { at: number; run: () => void }[] = [];
  answers: (Response | Error)[] = [];
  headers: Record<string, string>[] = [];
  asked = 0;
  fetch = async (_: unknown, init?: RequestInit) => {
    this.asked += 1;
    this.headers.push(init?.headers as Record<string, string>);
    const answer = this.answers.shift() ?? new Error('refused');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  now = () => this.time;
  after = (ms: number, run: () => void) => {
    const timer = { at: this.time + ms, run };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((other) => other !== timer));
  };
  async pass(ms: number) {
    this.time += ms;
    const due = this.timers.filter((timer) => timer.at <= this.time);
    this.timers = this.timers.filter((timer) => timer.at > this.time);
    for (const timer of due) timer.run();
    await settle();
  }
}

const settle = () => new Promise((done) => setTimeout(done, 0));
const stream = (text: string) => new Response(text, { headers: { 'content-type': 'text/event-stream' } });

async function follow(world: TestWorld) {
  const states: StreamState[] = [];
  const frames: Frame[] = [];
  const events = new EventStream(
    '/events',
    { state: (state) => states.push(state), frame: (frame) => frames.push(frame) },
    world,
  );
  events.start();
  await settle();
  return { events, states, frames };
}

test('hands on frames, and comes back after the stream ended', async () => {
  const world = new TestWorld();
  world.answers = [stream('event: status\ndata: 1\n\n'), stream('event: status\ndata: 2\n\n')];
  const { states, frames } = await follow(world);
  expect(states.map(({ kind }) => kind)).toEqual(['connecting', 'live', 'away']);
  expect(states[2]).toEqual({ kind: 'away', until: 1000, closing: false });
  await world.pass(1000);
  expect(frames.map(({ data }) => data)).toEqual(['1', '2']);
});

test('waits five seconds after a closing frame and does not hand it on', async () => {
  const world = new TestWorld();
  world.answers = [stream('data: closing\n\n')];
  const { states, frames } = await follow(world);
  expect(frames).toEqual([]);
  expect(states.at(-1)).toEqual({ kind: 'away', until: 5000, closing: true });
});

test('a clock that closed on purpose is expected back for a minute', async () => {
  const world = new TestWorld();
  world.answers = [stream('data: closing\n\n'), ...Array.from({ length: 9 }, () => new Error('refused'))];
  const { states } = await follow(world);
  const closing = [];
  for (let second = 0; second < 90; second += 1) {
    await world.pass(1000);
    const state = states.at(-1)!;
    if (state.kind === 'away') closing.push(state.closing);
  }
  expect(closing.slice(0, 30)).not.toContain(false);
  expect(closing.at(-1)).toBe(false);
});

test.each([
  ['refused connection', new Error('refused'), 1000],
  ['a page instead of a stream', new Response('<html>', { headers: { 'content-type': 'text/html' } }), 1000],
  ['forbidden', new Response('', { status: 403 }), 1000],
])('tries again after: %s', async (_, answer, until) => {
  const world = new TestWorld();
  world.answers = [answer];
  const { states } = await follow(world);
  expect(states.at(-1)).toEqual({ kind: 'away', until, closing: false });
});

test('gives up on a connection that falls silent', async () => {
  const world = new TestWorld();
  let abort: AbortSignal | undefined;
  world.fetch = (async (_: string, init: RequestInit) => {
    abort = init.signal ?? undefined;
    return new Promise((_done, fail) => abort?.addEventListener('abort', () => fail(new Error('aborted'))));
  }) as never;
  const { states } = await follow(world);
  await world.pass(15_000);
  expect(states.at(-1)?.kind).toBe('connecting');
  await world.pass(1_000);
  expect(abort?.aborted).toBe(true);
  expect(states.at(-1)?.kind).toBe('away');
});

test('gives up on a connection that falls silent after it has spoken', async () => {
  const world = new TestWorld();
  world.fetch = (async (_: string, init: RequestInit) => {
    const body = new ReadableStream<Uint8Array>({
      start(told) {
        told.enqueue(new TextEncoder().encode('data: 1\n\n'));
        init.signal?.addEventListener('abort', () => told.error(new Error('aborted')));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }) as never;
  const { states, frames } = await follow(world);
  expect([frames.length, states.at(-1)?.kind]).toEqual([1, 'live']);
  await world.pass(15_000);
  expect(states.at(-1)?.kind).toBe('live');
  await world.pass(1_000);
  expect(states.at(-1)?.kind).toBe('away');
});

test('remembers when the last bytes arrived, pings included', async () => {
  const world = new TestWorld();
  let body: ReadableStreamDefaultController<Uint8Array>;
  const answer = new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) });
  world.answers = [new Response(answer, { headers: { 'content-type': 'text/event-stream' } })];
  world.time = 1_000;
  const { events, states } = await follow(world);
  expect(events.lastByteAt).toBe(1_000);
  await world.pass(5_000);
  body!.enqueue(new TextEncoder().encode(': ping\n\n'));
  await settle();
  world.time += 8 * 3_600_000;
  body!.error(new Error('the device slept'));
  await settle();
  expect([events.lastByteAt, states.at(-1)?.kind]).toEqual([6_000, 'away']);
});

const locked = () => new Response('', { status: 401 });

test('a clock that asks who it is, is asked again only when somebody signed in', async () => {
  const world = new TestWorld();
  world.answers = [locked(), stream('data: 1\n\n')];
  const { events, states, frames } = await follow(world);
  expect(states.at(-1)).toEqual({ kind: 'locked' });
  await world.pass(600_000);
  expect(world.asked).toBe(1);
  use('Basic YTpi');
  events.restart();
  await settle();
  use('');
  expect(world.headers.map((headers) => headers.Authorization)).toEqual([undefined, 'Basic YTpi']);
  expect(world.headers[0]?.['X-Sign-In']).toBe('form');
  expect(frames).toHaveLength(1);
});

test('who signs in anew is not taken for a connection that broke', async () => {
  const world = new TestWorld();
  world.fetch = (() => new Promise(() => {})) as never;
  const { events, states } = await follow(world);
  events.restart();
  await settle();
  expect(states.map(({ kind }) => kind)).toEqual(['connecting', 'connecting']);
});

test('tries at once when asked, and only once', async () => {
  const world = new TestWorld();
  const { events } = await follow(world);
  expect(world.asked).toBe(1);
  events.retryNow();
  events.retryNow();
  await settle();
  expect(world.asked).toBe(2);
  events.stop();
  await world.pass(60_000);
  expect(world.asked).toBe(2);
});
