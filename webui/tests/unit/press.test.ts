import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Press, PRESS_APART_MS, PRESS_LEAST_MS, type Pressing } from '../../src/lib/press';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A browser that sends a request late, and what the clock sees of it: when the button goes down and up. */
class Browser {
  seen: [string, number][] = [];

  constructor(readonly late: number) {}

  press = (): Pressing => {
    const see = (what: string) => this.seen.push([what, Date.now() - started]);
    let end: (status: number) => void = () => {};
    const ended = new Promise<number>((done) => (end = done));
    const sent = new Promise<void>((done) =>
      setTimeout(() => {
        see('down');
        done();
      }, this.late),
    );
    const breakOff = () => {
      see('up');
      end(0);
    };
    return { sent, ended, breakOff };
  };
}

let started = 0;
beforeEach(() => void (started = Date.now()));

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test.each([0, 30, 95, 400])('a click is long enough where the request leaves %i ms late', async (late) => {
  const browser = new Browser(late);
  const press = new Press(browser.press);
  await pass(20);
  press.lift();
  await pass(2_000);
  expect(browser.seen).toEqual([
    ['down', late],
    ['up', late + PRESS_LEAST_MS],
  ]);
  expect(PRESS_LEAST_MS).toBeGreaterThanOrEqual(100);
  expect(await press.ended).toBe(0);
});

test('a button that is held is up as soon as it is let go', async () => {
  const browser = new Browser(10);
  const press = new Press(browser.press);
  await pass(900);
  press.lift();
  await pass(1);
  expect(browser.seen).toEqual([
    ['down', 10],
    ['up', 900],
  ]);
});

test('two clicks in a row are two presses', async () => {
  const browser = new Browser(50);
  const first = new Press(browser.press);
  first.lift();
  const second = new Press(
    browser.press,
    first.ended.then(() => new Promise((done) => setTimeout(done, PRESS_APART_MS))),
  );
  second.lift();
  await pass(1_000);
  const [down, up] = [50, 50 + PRESS_LEAST_MS];
  const next = up + PRESS_APART_MS;
  expect(browser.seen).toEqual([
    ['down', down],
    ['up', up],
    ['down', next + 50],
    ['up', next + 50 + PRESS_LEAST_MS],
  ]);
});

test('a press that the clock refuses is over', async () => {
  const press = new Press(() => ({ sent: Promise.resolve(), ended: Promise.resolve(400), breakOff: () => {} }));
  expect(await press.ended).toBe(400);
});
