// The page on the real program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, until, violations } from './browser.mjs';
import { BIN, skip } from './program.mjs';

let browser;
let program;
/** A page of another site, with an iframe and a picture. */
let site;
let folder;
let url;
let page;
let faults;

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'papertick-demo-'));
  const args = ['demo', '--listen', '127.0.0.1:0', '--data-dir', folder, '--panel-timing', 'instant'];
  site = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end(`<iframe src="${url}/glass?live" width="600" height="200"></iframe><img src="${url}/api/frame.png">`);
  });
  await new Promise((done) => site.listen(0, '127.0.0.1', done));
  args.push('--allow-origin', `http://127.0.0.1:${site.address().port}`);
  program = spawn(BIN, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  program.stdout.on('data', (piece) => (output += piece));
  [, url] = await until('the address', () => /(http:\/\/[\d.]+:\d+)/.exec(output));
  browser = await launch();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  ({ page, faults } = await openPage(context, url));
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
});

after(async () => {
  if (skip) return;
  await browser?.close();
  site.close();
  program.kill('SIGTERM');
  await new Promise((done) => program.once('exit', done));
  await rm(folder, { recursive: true, force: true });
});

const get = async (path) => (await fetch(url + path)).json();
const button = (name) => page.getByRole('button', { name, exact: true });

/** True if the page draws the same pixels as the picture of the clock. */
async function isGlassExact() {
  return page.evaluate(async () => {
    const canvases = [...document.querySelectorAll('canvas')];
    for (const [index, canvas] of canvases.entries()) {
      const picture = await createImageBitmap(
        await (await fetch(`/api/panels/${index}.png`, { cache: 'no-store' })).blob(),
      );
      if (picture.width !== canvas.width || picture.height !== canvas.height) return false;
      const pen = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
      pen.drawImage(picture, 0, 0);
      const expected = pen.getImageData(0, 0, picture.width, picture.height).data;
      const drawn = canvas.getContext('2d').getImageData(0, 0, picture.width, picture.height).data;
      for (let at = 0; at < expected.length; at += 4) {
        if (expected[at] < 128 !== drawn[at] < 128) return false;
      }
    }
    return true;
  });
}

/** Ink of every panel as the page draws it, one character per pixel of the panel. */
async function inks() {
  return page.evaluate(() =>
    [...document.querySelectorAll('canvas')].map((canvas) => {
      const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const signs = Array.from({ length: data.length / 4 }, (_, at) => (data[4 * at] < 128 ? '#' : '.')).join('');
      return `${width} ${signs}`;
    }),
  );
}

test('the page shows the panels of the clock', { skip }, async () => {
  await until('equal pixels', isGlassExact, 15_000);
});

test('a new block is shown by itself', { skip }, async () => {
  await button('Block Height').click();
  await page.waitForSelector('[data-current]:has-text("Block Height")');
  const before = (await get('/api/status')).data.join('');
  await until('a block', async () => (await get('/api/status')).data.join('') !== before, 60_000);
  await until('equal pixels', isGlassExact, 15_000);
});

test('unchanged settings are read only once', { skip }, async () => {
  const requests = [];
  const record = (request) => requests.push(new URL(request.url()).pathname);
  page.on('request', record);
  const before = (await get('/api/status')).espUptime;
  await until('a later status', async () => (await get('/api/status')).espUptime > before + 2, 10_000);
  page.off('request', record);
  assert.deepEqual(
    requests.filter((path) => path === '/api/settings'),
    [],
  );
});

test('text, next and a jump', { skip }, async () => {
  await page.getByRole('button', { name: 'Skip' }).click();
  await page.waitForSelector('[data-first-run]', { state: 'detached' });
  await button('Write on the clock').click();
  await page.waitForSelector('[data-composer]');
  await page.keyboard.type('HELLO');
  await page.waitForFunction(
    () => document.querySelectorAll('[data-composer] canvas').length === 7 && !document.querySelector('.typed'),
  );
  const written = await inks();
  await button('Show').click();
  await page.waitForSelector('[data-current]:has-text("Your text")');
  assert.equal((await get('/api/status')).data.join('').trim(), 'HELLO');
  await until('equal pixels', isGlassExact, 15_000);
  await until('the panels as they were written', async () => String(await inks()) === String(written), 15_000);
  await button('Ticker').click();
  await page.waitForSelector('[data-current]:has-text("Ticker")');
  await button('EUR').click();
  await page.waitForSelector('[data-current]:has-text("EUR")');
  await button('Next screen').click();
  await page.waitForSelector('[data-current]:not(:has-text("Ticker"))');
});

test('the demo changes by itself, and events can be triggered', { skip }, async () => {
  await page.waitForSelector('[data-rotation]:has-text("A new screen every 15 s")');
  if (!(await page.locator('#bench-jam').isVisible())) await page.locator('[data-bench] summary').click();
  const height = async () => (await get('/api/status')).market.height.value;
  const before = await height();
  await button('New block').click();
  await until('a block', async () => (await height()) > before);
  const mode = (wanted) => until(wanted, async () => (await get('/api/status')).mode === wanted);
  await button('Zap').click();
  await mode('zap');
  await button('Payment').click();
  await mode('payment');
  const relay = async () => (await get('/api/status')).sources.relay;
  await page.getByLabel('Relay is there').click();
  await until('a lost relay', async () => !(await relay()).up);
  await page.getByLabel('Relay is gone').click();
  await until('the relay', async () => (await relay()).up, 20_000);
  await button('Next screen').click();
  await page.locator('[data-bench] summary').click();
});

test('the full screen page shows the clock, also in iframes of allowed origins', { skip }, async () => {
  const context = await browser.newContext({ viewport: { width: 700, height: 300 } });
  for (const [host, isAllowed] of [
    ['127.0.0.1', true],
    ['localhost', false],
  ]) {
    const other = await context.newPage();
    await other.goto(`http://${host}:${site.address().port}/`);
    await other.waitForFunction(() => document.querySelector('img').naturalWidth === 800);
    const frame = await (await other.waitForSelector('iframe')).contentFrame();
    if (isAllowed) await frame.waitForFunction(() => document.querySelector('canvas')?.width === 600);
    else await until('an empty frame', () => frame.url().startsWith('chrome-error:'));
  }
  const alone = await context.newPage();
  await alone.goto(`${url}/glass?screen=0`);
  const ink = () =>
    alone.evaluate(() => {
      const canvas = document.querySelector('canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((shade, place) => place % 4 === 0 && shade < 128).length;
    });
  await alone.waitForFunction(() => document.querySelector('canvas')?.width === 700);
  const before = await until('a picture', ink);
  await until('another block', async () => (await ink()) !== before, 60_000);
  await context.close();
});

test('a display that introduces itself is approved and named', { skip }, async () => {
  const headers = { ID: 'AB:CD:EF:12:34:56', Model: 'og', 'FW-Version': '1.8.14', Width: '800', Height: '480' };
  const { api_key: token } = await (await fetch(`${url}/api/setup`, { headers })).json();
  const picture = async () =>
    (await fetch(`${url}/api/display`, { headers: { ...headers, 'Access-Token': token } })).json();
  assert.equal((await picture()).status, 0);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const { page: owner, faults: wrong } = await openPage(context, url, '/care/screens');
  const display = owner.locator('[data-display]');
  await display.locator('[data-picture]').waitFor();
  await display.getByRole('button', { name: 'Approve' }).click();
  await display.getByText('Approved', { exact: true }).waitFor();
  await display.getByRole('button', { name: 'Change' }).click();
  await display.getByLabel('Name').fill('Kitchen');
  await display.getByLabel('Shows').selectOption('screens of its own in turn');
  await display.getByLabel('Block Height').check();
  await display.getByRole('button', { name: 'Save' }).click();
  await display.getByRole('heading', { name: 'Kitchen' }).waitFor();
  assert.equal((await picture()).status, 0);
  assert.deepEqual(wrong, []);
  await context.close();
});

test('pause and resume', { skip }, async () => {
  await button('Pause rotation').click();
  await page.waitForSelector('[data-rotation]:has-text("Paused by you")');
  assert.equal((await get('/api/status')).timerRunning, false);
  await button('Resume rotation').click();
  await page.waitForSelector('[data-rotation]:has-text("A new screen")');
});

test('a button of the simulated clock can be pressed', { skip }, async () => {
  const before = (await get('/api/status')).currentScreen;
  await page.locator('[data-button="2"]').click();
  await until('the next screen', async () => (await get('/api/status')).currentScreen !== before);
});

test('the page shows and sets the LEDs of the clock', { skip }, async () => {
  await button('Colour #2F6BFF').click();
  // An event of the demo may start a flash, which is dark half of the time.
  const blue = async () => (await get('/sim/state')).leds.every((led) => /^#[0-9A-F]{4}[89A-F]/.test(led));
  await until('blue', blue, 15_000);
  await page.waitForFunction(() => document.querySelectorAll('.led.lit').length === 4);
  await button('Off').click();
  const dark = async () => (await get('/sim/state')).leds.every((led) => led === '#000000');
  await until('darkness', dark, 15_000);
  await page.waitForFunction(() => document.querySelectorAll('.led.lit').length === 0);
  await page.locator('[data-bench] summary').click();
  await page.getByLabel('Light in the room').fill('20');
  await until('a dim room', async () => (await get('/api/status')).lightLevel === 1);
});

test('the page reconnects after a power cut with a button held', { skip }, async () => {
  await page.getByLabel('Cut the power, then hold').selectOption({ index: 2 });
  await button('Cut the power').click();
  await until('a restarted clock', async () => (await get('/api/status').catch(() => null))?.espUptime < 3, 20_000);
  await page.waitForSelector('[data-link="live"]', { timeout: 20_000 });
  await until('equal pixels', isGlassExact, 20_000);
});

test('settings are saved, rejected, and merged with changes by another client', { skip }, async () => {
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  const setting = (key) => page.locator(`[data-key="${key}"]`);
  await setting('digitFontPx').getByRole('slider').fill('120');
  await page.locator('#section-display summary', { hasText: 'More' }).click();
  await setting('decimalShareDot').getByRole('switch').click();
  await page.waitForFunction(() => document.querySelector('[data-preview]')?.naturalWidth > 7 * 122);
  await fetch(`${url}/api/settings`, { method: 'PATCH', body: '{"labelFitPct":90}' });
  await button('Save').click();
  await page.waitForSelector('.notice:has-text("Saved.")');
  const saved = await get('/api/settings');
  assert.deepEqual([saved.digitFontPx, saved.decimalShareDot, saved.labelFitPct], [120, true, 90]);
  await setting('tzString').getByRole('combobox').fill('Mars/Olympus');
  await button('Save').click();
  await setting('tzString').locator('text=There is no such time zone.').waitFor();
  await button('Discard').click();
  await page.locator('[data-grip="3"]').focus();
  await page.keyboard.press('End');
  await button('Save').click();
  await until('a new order', async () => (await get('/api/settings')).screens.at(-1).id === 3);
  await setting('dnd').getByRole('switch').click();
  await setting('dnd').getByLabel('From').fill('21:15');
  await button('Save').click();
  await until('quiet hours', async () => (await get('/api/settings')).dnd.startMinute === 15);
  await page.getByRole('link', { name: 'Clock', exact: true }).click();
});

test('the page reconnects after a restart', { skip }, async () => {
  await button('Restart…').click();
  await button('Restart').click();
  await until(
    'a restarted clock',
    async () => {
      const status = await get('/api/status').catch(() => null);
      return status && status.espUptime < 3;
    },
    20_000,
  );
  await page.waitForSelector('[data-link="live"]', { timeout: 20_000 });
  await until('equal pixels', isGlassExact, 20_000);
  assert.equal((await get('/api/settings')).digitFontPx, 120);
});

test('a clock with a password requires a sign-in', { skip, timeout: 60_000 }, async () => {
  const patch = (json, headers) =>
    fetch(`${url}/api/settings`, { method: 'PATCH', headers, body: JSON.stringify(json) });
  await patch({ httpAuthEnabled: true, httpAuthUser: 'owner', httpAuthPass: 'correct horse' });
  await fetch(`${url}/api/restart`, { method: 'POST' });
  await until(
    'a clock that requires a password',
    async () => (await fetch(`${url}/api/status`).catch(() => null))?.status === 401,
    20_000,
  );
  const context = await browser.newContext();
  const owner = await context.newPage();
  await owner.goto(url);
  const form = owner.locator('[data-sign-in]');
  await form.waitFor();
  assert.equal(await owner.locator('canvas').count(), 0);
  await form.getByLabel('User name').fill('owner');
  await form.getByLabel('Password').fill('correct horse');
  await form.getByRole('button', { name: 'Sign in' }).click();
  await owner.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
  await owner.locator('[data-button="2"]').click();
  await owner.getByRole('link', { name: 'Settings', exact: true }).click();
  await owner.waitForSelector('[data-key="digitFontPx"]');
  await context.close();
});

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds no fault in the handbook: ${colorScheme}`, { skip, timeout: 120_000 }, async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme });
    const handbook = await context.newPage();
    await handbook.goto(`${url}/handbook/`);
    const links = handbook.locator('nav details a');
    const addresses = await links.evaluateAll((all) => all.map(({ href }) => href));
    assert.ok(addresses.length > 20);
    for (const address of [`${url}/handbook/?q=sign`, ...addresses]) {
      await handbook.goto(address);
      assert.deepEqual(await violations(handbook), [], address);
    }
    await context.close();
  });
}

test('the page had no errors', { skip }, () => {
  assert.deepEqual(faults, []);
});
