// The bench: controls of a simulated clock in the page.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { MockClock } from '../mock/clock.mjs';
import { launch, openPage, until } from './browser.mjs';

let browser;
let clock;
let page;
let faults;

before(async () => (browser = await launch()));
after(() => browser.close());

beforeEach(async () => {
  clock = new MockClock();
  const url = await clock.listen();
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } });
  ({ page, faults } = await openPage(context, url));
  await page.click('[data-bench] summary');
});

afterEach(async () => {
  assert.deepEqual(faults, []);
  assert.doesNotMatch(await page.innerText('body'), /\[\[|undefined|NaN/);
  await page.context().close();
  await clock.close();
});

const button = (number) => page.locator(`[data-button="${number}"]`);
const sentBody = (key) => until(key, () => clock.log.findLast((entry) => entry.key === key)).then(({ body }) => body);

/** Duration of a press by a click at the clock, ms: the median of five, because a busy machine may be late once. */
async function clicked(number) {
  for (let count = 1; count <= 5; count += 1) {
    await button(number).click();
    await until('a press', () => clock.presses.length === count);
  }
  for (const { press } of clock.presses) assert.deepEqual(press, [number]);
  return clock.presses.map(({ ms }) => ms).sort((a, b) => a - b)[2];
}

test('a click is a short press', async () => {
  const ms = await clicked(2);
  assert.ok(ms >= 100 && ms < 800, `${ms} ms`);
});

test('a click is a press, however late the browser sends it', async () => {
  await page.route('**/sim/buttons', async (route) => {
    await new Promise((done) => setTimeout(done, 400));
    await route.continue().catch(() => {});
  });
  const ms = await clicked(2);
  assert.ok(ms >= 100 && ms < 800, `${ms} ms`);
});

test('two clicks are two presses', async () => {
  // Checks the order in the browser, because a busy machine may read the end of a request late.
  const sent = [];
  const note = (word) => (request) => request.url().endsWith('/sim/buttons') && sent.push(word);
  page.on('request', note('down'));
  page.on('requestfailed', note('up'));
  await button(2).dblclick();
  await until('two presses', () => clock.presses.length === 2);
  for (const { press } of clock.presses) assert.deepEqual(press, [2]);
  await until('all that was sent', () => sent.length === 4);
  assert.deepEqual(sent, ['down', 'up', 'down', 'up']);
});

test('a button is down until it is released', async () => {
  await button(1).hover();
  await page.mouse.down();
  await until('a button that is down', () => clock.buttons.has(1));
  await page.waitForTimeout(900);
  assert.ok(clock.buttons.has(1));
  await page.mouse.up();
  const { ms } = await until('a release', () => clock.presses[0]);
  assert.ok(ms >= 850, `${ms} ms`);
});

test('buttons are held by keyboard', async () => {
  await button(3).focus();
  await page.keyboard.down('Enter');
  await until('a button that is down', () => clock.buttons.has(3));
  await page.keyboard.up('Enter');
  await until('a release', () => clock.presses[0]?.press[0] === 3);
});

test('several buttons can be held down together', async () => {
  await page.getByLabel('Buttons stay down until clicked again').click();
  for (const number of [1, 2, 3, 4]) await button(number).click();
  await until('all four', () => clock.buttons.size === 4);
  await page.getByLabel('Buttons stay down until clicked again').click();
  await until('none', () => clock.buttons.size === 0);
});

test('LEDs show their actual colours', async () => {
  clock.liveLeds = ['#800000', '#000000', '#000000', '#0000FF'];
  clock.benchChanged();
  await page.waitForSelector('[data-lamp="rgb(255 0 0)"]');
  assert.equal(await page.locator('.led.lit').count(), 2);
});

test('the frontlight shines on the panels', async () => {
  assert.equal(await page.locator('.slot.shining').count(), 0);
  clock.front.on = true;
  clock.benchChanged();
  await page.waitForFunction(() => document.querySelectorAll('.slot.shining').length === 7);
});

test('paper is dim in a dark room', async () => {
  const light = () =>
    page.locator('[data-panel="0"]').evaluate((slot) => Number(slot.style.getPropertyValue('--light')));
  await until('bright paper', async () => (await light()) > 0.9);
  clock.lux = 0;
  clock.benchChanged();
  await until('dim paper', async () => (await light()) < 0.2);
});

test('light, network, power and a jammed panel', async () => {
  await page.getByLabel('Light in the room').fill('0');
  assert.deepEqual(await sentBody('POST /sim/lux'), { lux: 0 });
  await page.getByLabel('Light sensor').click();
  await until('no sensor', () => clock.lux === null);
  await page.getByRole('switch', { name: 'Network' }).click();
  assert.deepEqual(await sentBody('POST /sim/wifi'), { link: 'down' });
  await page.getByText('Network is gone').waitFor();
  await page.getByRole('button', { name: 'Cut the power' }).click();
  assert.deepEqual(await sentBody('POST /sim/power'), { action: 'cycle' });
  await page.getByLabel('Cut the power, then hold').selectOption({ index: 1 });
  clock.log = [];
  await page.getByRole('button', { name: 'Cut the power' }).click();
  assert.deepEqual(await sentBody('POST /sim/power'), { action: 'cycle', hold: [1], ms: 3200 });
  await page.getByLabel('Jam a panel').selectOption({ index: 4 });
  assert.deepEqual(await sentBody('POST /sim/panel'), { panel: 3, fault: 'busy-stuck' });
});

test('zaps and payments can be triggered, and market events only in a demo', async () => {
  assert.equal(await page.getByRole('button', { name: 'New block' }).count(), 0);
  await page.getByRole('button', { name: 'Payment' }).click();
  assert.deepEqual(await sentBody('POST /sim/market'), { event: 'payment' });
  clock.demoRelay = 'there';
  clock.benchChanged();
  await page.getByRole('button', { name: 'New block' }).click();
  await until('a block', () => clock.log.at(-1)?.body?.event === 'block');
  await page.getByRole('button', { name: 'Price jump' }).click();
  await until('another price', () => clock.log.at(-1)?.body?.event === 'price');
  await page.getByLabel('Relay is there').click();
  await until('no relay', () => clock.log.at(-1)?.body?.event === 'relay-gone');
  await page.getByLabel('Relay is gone').waitFor();
});

test('a clock that is not simulated has no bench', async () => {
  await clock.close();
  clock = new MockClock({ bench: false });
  const url = await clock.listen();
  const context = await browser.newContext();
  const other = await openPage(context, url);
  await other.page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
  await other.page.waitForTimeout(300);
  assert.equal(await other.page.locator('[data-bench], [data-button]').count(), 0);
  // The LEDs have the colours of the status.
  const lit = (wanted) =>
    other.page.waitForFunction((wanted) => document.querySelectorAll('.led.lit').length === wanted, wanted);
  clock.leds = ['#800000', '#000000', '#000000', '#000000'];
  clock.front.on = true;
  clock.changed(clock.data());
  await other.page.waitForSelector('.led.lit[data-lamp="rgb(255 0 0)"]');
  await lit(1);
  await other.page.waitForFunction(() => document.querySelectorAll('.slot.shining').length === 7);
  clock.settings.disableLeds = true;
  clock.changed(clock.data());
  await lit(0);
  assert.deepEqual(other.faults, []);
  await context.close();
});
