import { describe, expect, test } from 'vitest';
import { Backoff } from '../../src/lib/backoff';
import { FrameReader, type Frame } from '../../src/lib/sse';
import { useAuthorization } from '../../src/lib/credentials';
import { EventStream, type StreamEnvironment, type StreamState } from '../../src/lib/stream';

test('delays double from one second to half a minute, and start over after a connection', () => {
  const backoff = new Backoff();
  const delays = Array.from({ length: 7 }, () => backoff.next(false));
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000]);
  backoff.reset();
  expect(backoff.next(false)).toBe(1000);
});

test('the delay during a restart is half a second', () => {
  const backoff = new Backoff();
  backoff.next(false);
  expect([backoff.next(true), backoff.next(true), backoff.next(false)]).toEqual([500, 500, 1000]);
});

describe('frames', () => {
  const cases: [string, string[], Frame[]][] = [
    ['named', ['event: status\ndata: {}\n\n'], [{ name: 'status', data: '{}' }]],
    ['unnamed', ['data: closing\n\n'], [{ name: 'message', data: 'closing' }]],
    ['comments are dropped', [': ping\n\n: ping\n\n'], []],
    ['in pieces', ['eve', 'nt: a\nda', 'ta: 1', '\n', '\n'], [{ name: 'a', data: '1' }]],
    ['CRLF split between pieces', ['data: 1\r', '\n\r\n'], [{ name: 'message', data: '1' }]],
    ['several data lines', ['data: 1\ndata:\ndata: 3\n\n'], [{ name: 'message', data: '1\n\n3' }]],
    ['only one space is removed', ['data:  x\n\n'], [{ name: 'message', data: ' x' }]],
    ['unknown fields', ['id: 4\nretry: 9\nfoo\ndata: x\n\n'], [{ name: 'message', data: 'x' }]],
    ['no data, no event', ['event: x\n\ndata: y\n\n'], [{ name: 'message', data: 'y' }]],
    ['an incomplete frame is buffered', ['data: x\n'], []],
  ];
  test.each(cases)('%s', (_, pieces, frames) => {
    const reader = new FrameReader();
    expect(pieces.flatMap((piece) => reader.push(piece))).toEqual(frames);
  });
});

/** An environment with virtual time and prepared responses. */
class TestEnvironment implements StreamEnvironment {
  time = 0;
  timers: { at: number; run: () => void }[] = [];
  responses: (Response | Error)[] = [];
  headers: Record<string, string>[] = [];
  requests = 0;
  fetch = async (_: unknown, init?: RequestInit) => {
    this.requests += 1;
    this.headers.push(init?.headers as Record<string, string>);
    const response = this.responses.shift() ?? new Error('refused');
    if (response instanceof Error) throw response;
    return response;
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

async function follow(environment: TestEnvironment) {
  const states: StreamState[] = [];
  const frames: Frame[] = [];
  const events = new EventStream(
    '/events',
    { state: (state) => states.push(state), frame: (frame) => frames.push(frame) },
    environment,
  );
  events.start();
  await settle();
  return { events, states, frames };
}

test('delivers frames, and reconnects after the stream ended', async () => {
  const environment = new TestEnvironment();
  environment.responses = [stream('event: status\ndata: 1\n\n'), stream('event: status\ndata: 2\n\n')];
  const { states, frames } = await follow(environment);
  expect(states.map(({ kind }) => kind)).toEqual(['connecting', 'live', 'away']);
  expect(states[2]).toEqual({ kind: 'away', until: 1000, closing: false });
  await environment.pass(1000);
  expect(frames.map(({ data }) => data)).toEqual(['1', '2']);
});

test('waits half a second after a closing frame and does not deliver it', async () => {
  const environment = new TestEnvironment();
  environment.responses = [stream('data: closing\n\n')];
  const { states, frames } = await follow(environment);
  expect(frames).toEqual([]);
  expect(states.at(-1)).toEqual({ kind: 'away', until: 500, closing: true });
});

test('a clock that sent a closing frame counts as restarting for a minute', async () => {
  const environment = new TestEnvironment();
  environment.responses = [stream('data: closing\n\n'), ...Array.from({ length: 9 }, () => new Error('refused'))];
  const { states } = await follow(environment);
  const closing = [];
  for (let second = 0; second < 90; second += 1) {
    await environment.pass(1000);
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
])('tries again after: %s', async (_, response, until) => {
  const environment = new TestEnvironment();
  environment.responses = [response];
  const { states } = await follow(environment);
  expect(states.at(-1)).toEqual({ kind: 'away', until, closing: false });
});

test('a request without a response times out', async () => {
  const environment = new TestEnvironment();
  let abort: AbortSignal | undefined;
  environment.fetch = (async (_: string, init: RequestInit) => {
    abort = init.signal ?? undefined;
    return new Promise((_done, fail) => abort?.addEventListener('abort', () => fail(new Error('aborted'))));
  }) as never;
  const { states } = await follow(environment);
  await environment.pass(15_000);
  expect(states.at(-1)?.kind).toBe('connecting');
  await environment.pass(1_000);
  expect(abort?.aborted).toBe(true);
  expect(states.at(-1)?.kind).toBe('away');
});

test('a connection without further bytes times out', async () => {
  const environment = new TestEnvironment();
  environment.fetch = (async (_: string, init: RequestInit) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('data: 1\n\n'));
        init.signal?.addEventListener('abort', () => controller.error(new Error('aborted')));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }) as never;
  const { states, frames } = await follow(environment);
  expect([frames.length, states.at(-1)?.kind]).toEqual([1, 'live']);
  await environment.pass(15_000);
  expect(states.at(-1)?.kind).toBe('live');
  await environment.pass(1_000);
  expect(states.at(-1)?.kind).toBe('away');
});

test('records the time of the last bytes, including pings', async () => {
  const environment = new TestEnvironment();
  let body: ReadableStreamDefaultController<Uint8Array>;
  const answer = new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) });
  environment.responses = [new Response(answer, { headers: { 'content-type': 'text/event-stream' } })];
  environment.time = 1_000;
  const { events, states } = await follow(environment);
  expect(events.lastByteAt).toBe(1_000);
  await environment.pass(5_000);
  body!.enqueue(new TextEncoder().encode(': ping\n\n'));
  await settle();
  environment.time += 8 * 3_600_000;
  body!.error(new Error('the device slept'));
  await settle();
  expect([events.lastByteAt, states.at(-1)?.kind]).toEqual([6_000, 'away']);
});

test('bytes that are read after a sleep of the device are not taken as new', async () => {
  const environment = new TestEnvironment();
  let body: ReadableStreamDefaultController<Uint8Array>;
  const answer = new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) });
  environment.responses = [new Response(answer, { headers: { 'content-type': 'text/event-stream' } })];
  const { events, states, frames } = await follow(environment);
  environment.time += 8 * 3_600_000;
  body!.enqueue(new TextEncoder().encode('data: 1\n\n'));
  await settle();
  expect([events.lastByteAt, states.at(-1)?.kind, frames]).toEqual([0, 'away', []]);
});

const locked = () => new Response('', { status: 401 });

test('after 401 the next attempt waits for a sign-in', async () => {
  const environment = new TestEnvironment();
  environment.responses = [locked(), stream('data: 1\n\n')];
  const { events, states, frames } = await follow(environment);
  expect(states.at(-1)).toEqual({ kind: 'locked' });
  await environment.pass(600_000);
  expect(environment.requests).toBe(1);
  useAuthorization('Basic YTpi');
  events.restart();
  await settle();
  useAuthorization('');
  expect(environment.headers.map((headers) => headers.Authorization)).toEqual([undefined, 'Basic YTpi']);
  expect(environment.headers[0]?.['X-Sign-In']).toBe('form');
  expect(frames).toHaveLength(1);
});

test('a restart does not count as a broken connection', async () => {
  const environment = new TestEnvironment();
  environment.fetch = (() => new Promise(() => {})) as never;
  const { events, states } = await follow(environment);
  events.restart();
  await settle();
  expect(states.map(({ kind }) => kind)).toEqual(['connecting', 'connecting']);
});

test('retryNow starts exactly one attempt', async () => {
  const environment = new TestEnvironment();
  const { events } = await follow(environment);
  expect(environment.requests).toBe(1);
  events.retryNow();
  events.retryNow();
  await settle();
  expect(environment.requests).toBe(2);
  events.stop();
  await environment.pass(60_000);
  expect(environment.requests).toBe(2);
});
