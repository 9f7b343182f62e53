import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Press, PRESS_APART_MS, PRESS_LEAST_MS, type PressRequest } from '../../src/lib/press';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A browser that sends requests late, and records when the button goes down and up. */
class Browser {
  events: [string, number][] = [];

  constructor(readonly delayMs: number) {}

  press = (): PressRequest => {
    const record = (event: string) => this.events.push([event, Date.now() - started]);
    let end: (status: number) => void = () => {};
    const ended = new Promise<number>((done) => (end = done));
    const sent = new Promise<void>((done) =>
      setTimeout(() => {
        record('down');
        done();
      }, this.delayMs),
    );
    const abort = () => {
      record('up');
      end(0);
    };
    return { sent, ended, abort };
  };
}

let started = 0;
beforeEach(() => void (started = Date.now()));

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test.each([0, 30, 95, 400])('a click is long enough if the request is sent %i ms late', async (delayMs) => {
  const browser = new Browser(delayMs);
  const press = new Press(browser.press);
  await pass(20);
  press.release();
  await pass(2_000);
  expect(browser.events).toEqual([
    ['down', delayMs],
    ['up', delayMs + PRESS_LEAST_MS],
  ]);
  expect(PRESS_LEAST_MS).toBeGreaterThanOrEqual(100);
  expect(await press.ended).toBe(0);
});

test('a button that was held long enough goes up when it is released', async () => {
  const browser = new Browser(10);
  const press = new Press(browser.press);
  await pass(900);
  press.release();
  await pass(1);
  expect(browser.events).toEqual([
    ['down', 10],
    ['up', 900],
  ]);
});

test('two clicks in a row are two presses', async () => {
  const browser = new Browser(50);
  const first = new Press(browser.press);
  first.release();
  const second = new Press(
    browser.press,
    first.ended.then(() => new Promise((done) => setTimeout(done, PRESS_APART_MS))),
  );
  second.release();
  await pass(1_000);
  const [down, up] = [50, 50 + PRESS_LEAST_MS];
  const next = up + PRESS_APART_MS;
  expect(browser.events).toEqual([
    ['down', down],
    ['up', up],
    ['down', next + 50],
    ['up', next + 50 + PRESS_LEAST_MS],
  ]);
});

test('a press that the clock rejects ends', async () => {
  const press = new Press(() => ({ sent: Promise.resolve(), ended: Promise.resolve(400), abort: () => {} }));
  expect(await press.ended).toBe(400);
});
