// The page in Firefox: every view, the panels, the event stream and a change.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { MockClock } from '../mock/clock.mjs';
import { until } from './browser.mjs';
import { launchFirefox } from './firefox.mjs';

const PROGRAM = process.env.PAPERTICK_FIREFOX ?? '/usr/bin/firefox-esr';
const skip = existsSync(PROGRAM) ? false : `there is no Firefox: ${PROGRAM}`;
if (skip && process.env.CI === 'true') throw new Error(skip);

let browser;
let clock;

before(async () => {
  if (skip) return;
  browser = await launchFirefox(PROGRAM, { width: 1000, height: 900 });
  clock = new MockClock();
  await clock.listen();
});

after(async () => {
  await browser?.close();
  await clock?.close();
});

const there = (selector) =>
  until(selector, () => browser.evaluate(`document.querySelector('${selector}') !== null`), 15_000);

test('the panels follow the clock', { skip }, async () => {
  await browser.open(`${clock.url}/`);
  await there('[data-link="live"]');
  const drawn = () =>
    browser.evaluate(`[...document.querySelectorAll('canvas')].filter((panel) => panel.dataset.version).length`);
  await until('seven panels', async () => (await drawn()) === 7, 15_000);
  const before = clock.data();
  clock.height += 1;
  clock.changed(before);
  await until('the next block', () =>
    browser.evaluate(`document.querySelectorAll('canvas')[6].dataset.version === '2'`),
  );
  assert.deepEqual(browser.faults, []);
});

test('a button of the page sends a request', { skip }, async () => {
  await browser.open(`${clock.url}/`);
  await there('[data-link="live"]');
  clock.log = [];
  // The button is rendered after the first status.
  const next = `[...document.querySelectorAll('button')].find((button) => /^Next/.test(button.ariaLabel ?? button.textContent.trim()))`;
  await until('the button', () => browser.evaluate(`${next} !== undefined`), 15_000);
  await browser.evaluate(`${next}.click()`);
  await until('a request', () => clock.log.some(({ key }) => key === 'POST /api/screen/next'));
  assert.deepEqual(browser.faults, []);
});

for (const [path, selector] of [
  ['/settings', '[data-key="digitFontPx"]'],
  ['/care', '#care-reset'],
]) {
  test(`${path} is rendered`, { skip }, async () => {
    await browser.open(clock.url + path);
    await there('[data-link="live"]');
    await there(selector);
    // Both in one evaluation: a scroll bar that appears in between would change only the second value.
    const [wide, room] = await browser.evaluate(
      `(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.documentElement)`,
    );
    assert.ok(wide <= room, `${wide} px in ${room}`);
    assert.deepEqual(browser.faults, []);
  });
}
