// The clock view: panels, controls, sign-in and lost connections.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { MockClock } from '../mock/clock.mjs';
import { panelInk } from '../mock/png.mjs';
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
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  ({ page, faults } = await openPage(context, url));
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
});

afterEach(async () => {
  assert.deepEqual(faults, []);
  assert.doesNotMatch(await page.innerText('body'), /\[\[|undefined|NaN/);
  await page.context().close();
  await clock.close();
});

const posts = () =>
  clock.log
    .filter(({ key }) => key.startsWith('POST'))
    .map(({ key, body }) => (body === undefined ? key : [key, body]));
const last = async () => until('a request', () => posts().at(-1));
const sevenPanels = (tab) => tab.waitForFunction(() => document.querySelectorAll('canvas').length === 7);

/** Sets a password and restarts the event streams, so that every page must sign in. */
async function lock(password = 'correct horse') {
  clock.password = password;
  await clock.goAway();
  await clock.comeBack();
}

/** Waits for the sign-in form and signs in. */
async function signIn(tab) {
  const form = tab.locator('[data-sign-in]');
  await form.waitFor({ timeout: 10_000 });
  await form.getByLabel('Password').fill(clock.password);
  await form.getByRole('button', { name: 'Sign in' }).click();
}

/** Ink of a panel as the page draws it, one character per pixel of the panel. */
const ink = (index) =>
  page.evaluate((at) => {
    const canvas = document.querySelectorAll('canvas')[at];
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let text = '';
    for (let place = 0; place < data.length; place += 4) text += data[place] < 128 ? '#' : '.';
    return { text, width: canvas.width, shown: canvas.getBoundingClientRect().width * devicePixelRatio };
  }, index);

test('panels are shown pixel by pixel', async () => {
  const drawn = await ink(0);
  assert.equal(drawn.width, 122);
  assert.equal(drawn.shown, 122);
  const expected = panelInk('BLOCK/HEIGHT');
  assert.equal(drawn.text, expected);
});

test('only changed panels are fetched', async () => {
  clock.log = [];
  const before = clock.data();
  clock.height += 1;
  clock.changed(before);
  await page.waitForFunction(() => document.querySelectorAll('canvas')[6].dataset.version === '2');
  assert.deepEqual(clock.log, [{ key: 'GET panel 6', notModified: false }]);
  assert.equal((await ink(6)).text, panelInk('4'));
});

test('an unchanged picture is not sent again', async () => {
  clock.log = [];
  clock.changed(undefined, true);
  await until('requests for all panels', () => clock.log.length === 7);
  assert.ok(clock.log.every(({ notModified }) => notModified));
});

test('a full refresh flashes, even if the picture does not change', async () => {
  const flashes = (index) => page.evaluate((at) => document.querySelectorAll('canvas')[at].dataset.flashes, index);
  clock.log = [];
  clock.repainted([2], 'partial');
  clock.repainted([3], 'full');
  await page.waitForFunction(() => document.querySelectorAll('canvas')[3].dataset.flashes === '1');
  assert.deepEqual([await flashes(2), await flashes(3)], ['0', '1']);
  assert.deepEqual(clock.log.map(({ key }) => key).sort(), ['GET panel 2', 'GET panel 3']);
  clock.repainted([3], 'full');
  await page.waitForFunction(() => document.querySelectorAll('canvas')[3].dataset.flashes === '2');
});

test('a full refresh is animated as a flash, unless reduced motion is preferred', async () => {
  await page.evaluate(() => {
    globalThis.flashed = [];
    const { animate } = Element.prototype;
    Element.prototype.animate = function (...how) {
      globalThis.flashed.push(this.closest('[data-panel]')?.dataset.panel);
      return animate.apply(this, how);
    };
  });
  const flashed = () => page.evaluate(() => globalThis.flashed);
  const before = clock.data();
  clock.height += 1;
  clock.changed(before);
  await page.waitForFunction(() => document.querySelectorAll('canvas')[6].dataset.version === '2');
  assert.deepEqual(await flashed(), []);
  clock.repainted([3], 'full');
  await page.waitForFunction(() => document.querySelectorAll('canvas')[3].dataset.flashes === '1');
  assert.deepEqual(await flashed(), ['3']);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  clock.repainted([3], 'full');
  await page.waitForFunction(() => document.querySelectorAll('canvas')[3].dataset.flashes === '2');
  assert.deepEqual(await flashed(), ['3']);
});

test('an idle page sends no requests except for its stream', async () => {
  await page.waitForTimeout(300);
  const requests = [];
  page.context().on('request', (request) => requests.push(request.url()));
  // A status without changes on the panels, such as a new price, causes no request.
  for (let count = 0; count < 10; count += 1) {
    clock.lux += 1;
    clock.send('status', clock.status());
    await page.waitForTimeout(250);
  }
  assert.deepEqual(requests, []);
  assert.equal(clock.streams.size, 1);
});

test('a tab in the background closes its stream after a minute, and is updated when it is visible again', async () => {
  const tab = await page.context().newPage();
  await tab.clock.install();
  await tab.goto(clock.url);
  await tab.waitForSelector('[data-link="live"]');
  const show = (state) =>
    tab.evaluate((state) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  assert.equal(clock.streams.size, 2);
  await show('hidden');
  for (let tens = 1; tens < 6; tens += 1) {
    await tab.clock.runFor(10_000);
    // A stream without data would be closed, too.
    clock.send('status', clock.status());
    await page.waitForTimeout(50);
    assert.equal(clock.streams.size, 2);
  }
  await tab.clock.runFor(10_000);
  await until('a closed stream', () => clock.streams.size === 1);
  clock.running = false;
  clock.changed(clock.data());
  await show('visible');
  await tab.waitForSelector('[data-rotation]:has-text("Paused by you")');
  assert.equal(clock.streams.size, 2);
});

test('an outage is shown with its reason and duration, and sources can be restarted', async () => {
  clock.link = 'down';
  clock.statusOverrides = { sources: { relay: { ...clock.source('pool'), ageSec: 7_300 } } };
  clock.changed(clock.data());
  const banner = page.locator('[data-outage]');
  await banner.getByText('No blocks, fees and prices arrive.').waitFor();
  assert.match(await banner.textContent(), /For 2 h 1 min\./);
  // An error text of the clock is a quotation with its own language.
  assert.equal(await banner.locator('q[lang="en"]').textContent(), 'connection refused');
  assert.equal(await page.textContent('[data-link]'), 'No data');
  await banner.getByRole('button', { name: 'Try now' }).click();
  assert.equal(await last(), 'POST /api/restart_datasources');
  clock.statusOverrides = {};
  clock.link = 'up';
  clock.changed(clock.data());
  await banner.waitFor({ state: 'detached' });
});

test('every view has an address and a title, and Back returns to it', async () => {
  const title = await until('a value', async () => / · papertick$/.test(await page.title()) && (await page.title()));
  assert.match(title, /^(900,\d{3}|98,765 USD) · papertick$/);
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.waitForSelector('[data-key="digitFontPx"]');
  assert.equal(await page.title(), 'Settings · papertick');
  assert.equal(new URL(page.url()).pathname, '/settings');
  assert.equal(await page.textContent('nav [aria-current="page"]'), 'Settings');
  await page.getByRole('link', { name: 'Network', exact: true }).click();
  assert.equal(new URL(page.url()).pathname, '/settings/network');
  await page.goBack();
  await page.goBack();
  await page.waitForSelector('[data-current]');
  assert.equal(await page.title(), title);
  await page.goForward();
  await page.waitForSelector('[data-key="digitFontPx"]');
  const sent = await openPage(page.context(), clock.url, '/settings/network');
  await sent.page.waitForFunction(() => {
    const top = document.getElementById('section-network')?.getBoundingClientRect().top ?? Infinity;
    return top < innerHeight && scrollY > 0;
  });
  const old = await openPage(page.context(), clock.url, '/#/settings/quiet');
  await old.page.waitForFunction(() => location.pathname === '/settings/quiet');
});

/** True for each of session and local storage that contains credentials. */
const storedCredentials = () =>
  page.evaluate(() => [sessionStorage, localStorage].map((storage) => storage.getItem('papertick-sign-in') !== null));

test('without credentials, a clock with a password shows only the sign-in form', async () => {
  await lock();
  const form = page.locator('[data-sign-in]');
  await form.waitFor({ timeout: 10_000 });
  assert.equal(await page.locator('canvas').count(), 0);
  await form.getByLabel('Password').fill('wrong');
  await form.getByRole('button', { name: 'Sign in' }).click();
  await form.getByText('The user name or the password is wrong.').waitFor();
  await form.getByLabel('Password').fill('correct horse');
  await form.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
  assert.deepEqual(await storedCredentials(), [true, false]);
  await page.getByRole('button', { name: 'Next screen', exact: true }).click();
  await until('the next screen', () => clock.current === 3);
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await form.waitFor();
  assert.equal(await page.locator('canvas').count(), 0);
  assert.deepEqual(await storedCredentials(), [false, false]);
  await form.getByLabel('Password').fill('correct horse');
  await form.getByLabel('Stay signed in').check();
  await form.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
  assert.deepEqual(await storedCredentials(), [false, true]);
});

test('a clock that created a password shows its panels and an explanation at the sign-in form', async () => {
  clock.showsPassword = true;
  await lock();
  const form = page.locator('[data-sign-in]');
  await page.waitForFunction(() => document.querySelector('[data-glass]')?.naturalWidth > 0);
  await form.getByText('The settings of this clock were damaged').waitFor();
  await form.getByText('papertick passwd').waitFor();
  await form.getByLabel('Password').fill('correct horse');
  await form.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
});

test('signing in to stay, or out, in one tab does so in all tabs', async () => {
  const { page: second, faults: wrong } = await openPage(page.context(), clock.url);
  await lock();
  const locked = second.locator('[data-sign-in]');
  await locked.waitFor({ timeout: 10_000 });
  await page.locator('[data-sign-in]').getByLabel('Stay signed in').check();
  await signIn(page);
  for (const tab of [page, second]) await sevenPanels(tab);
  await second.getByRole('button', { name: 'Next screen', exact: true }).click();
  await until('the next screen', () => clock.current === 3);
  await second.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('[data-sign-in]').waitFor();
  assert.deepEqual(await storedCredentials(), [false, false]);
  // A sign-out reaches tabs with credentials of their own, too.
  for (const tab of [page, second]) await signIn(tab);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await locked.waitFor();
  assert.deepEqual(wrong, []);
});

test('signing in to one tab does not sign in or out another', async () => {
  const { page: second, faults: wrong } = await openPage(page.context(), clock.url);
  await lock();
  await page.locator('[data-sign-in]').getByLabel('Stay signed in').check();
  await signIn(page);
  for (const tab of [page, second]) await sevenPanels(tab);
  await lock('another horse');
  await page.locator('[data-sign-in]').waitFor({ timeout: 10_000 });
  await second.locator('[data-sign-in]').getByLabel('Stay signed in').uncheck({ timeout: 10_000 });
  await signIn(second);
  await sevenPanels(second);
  await second.getByRole('button', { name: 'Next screen', exact: true }).click();
  await until('the next screen', () => clock.current === 3);
  await sevenPanels(second);
  assert.equal(await page.locator('[data-sign-in]').count(), 1);
  assert.deepEqual(wrong, []);
});

test('an address may contain a user name', async () => {
  await page.goto(clock.url.replace('//', '//x:y@'));
  await page.getByText('Live', { exact: true }).waitFor();
  // The browser puts the user name into the addresses of files, which count as foreign otherwise.
  faults.splice(0, faults.length, ...faults.filter((fault) => !fault.includes('//x:y@')));
});

test('every display that waits is announced, also under the name of another', async () => {
  clock.waiting = ['Hall', 'Hall'];
  clock.changed(clock.data());
  await until('two notes', async () => (await page.locator('[data-waiting]').count()) === 2);
});

test('the layout does not shift while the page loads', async () => {
  for (const width of [390, 1440]) {
    const context = await browser.newContext({ viewport: { width, height: 844 } });
    for (const path of ['/', '/settings']) {
      const sized = await context.newPage();
      await sized.addInitScript(() => {
        globalThis.shifted = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) globalThis.shifted += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });
      });
      await sized.goto(clock.url + path);
      await sized.waitForSelector(path === '/' ? '[data-bench]' : '[data-key="digitFontPx"]');
      await sized.waitForTimeout(400);
      const shifted = await sized.evaluate(() => globalThis.shifted);
      assert.ok(shifted < 0.05, `${path} at ${width} px shifts by ${shifted}`);
    }
    await context.close();
  }
});

test('a view that cannot be loaded is explained', async () => {
  await clock.goAway();
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  const reload = page.getByRole('button', { name: 'Reload' });
  await reload.waitFor();
  await clock.comeBack();
  await reload.click();
  await page.waitForSelector('[data-key="digitFontPx"]');
});

/** Opens the editor for a custom text. */
async function write() {
  await page.getByRole('button', { name: 'Write on the clock' }).click();
  await page.waitForSelector('[data-composer]');
}

test('the clock stays in view while the editor of texts loads', async () => {
  let release;
  const released = new Promise((done) => (release = done));
  // The service worker may send the request.
  await page.context().route('**/assets/later-*.js', async (route) => {
    await released;
    await route.continue();
  });
  const requested = page.context().waitForEvent('request', (request) => /later-.*js/.test(request.url()));
  await page.getByRole('button', { name: 'Write on the clock' }).click();
  await requested;
  assert.ok(await page.locator('[data-twin]').count());
  release();
  await page.waitForSelector('[data-composer]');
});

test('missing characters are listed, and an empty text needs a confirmation', async () => {
  await write();
  await page.keyboard.type('A\u{13080}B');
  await page.waitForSelector('[data-undrawn]:has-text("\u{13080}")');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.deepEqual(
    posts().filter(([path]) => path === 'POST /api/show/custom'),
    [],
  );
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByRole('button', { name: 'Show them empty' }).click();
  await until('empty panels', () => clock.custom?.join('') === '');
});

test('the panels are described for screen readers by the sentence of the clock', async () => {
  const { words, values } = clock.status().phrase;
  assert.equal(words, 'Block height {height}.');
  const height = Number(values.height.number);
  assert.equal(await page.textContent('[data-twin]'), `Block height ${height.toLocaleString('en')}.`);
  assert.equal(await page.getAttribute('[data-twin]', 'aria-live'), 'polite');
  const started = Date.now();
  const amount = { words: '{count} sats', values: { count: { number: '21' } } };
  clock.phrase = { words: 'A zap of {amount} came in.', values: { amount } };
  clock.changed(clock.data());
  await page.waitForSelector('[data-twin]:has-text("A zap of 21 sats")', { state: 'attached' });
  assert.ok(Date.now() - started < 1_500, 'within a second');
  clock.phrase = { words: 'Safe mode: {why}', values: { why: 'it crashed 3 times.' } };
  clock.changed(clock.data());
  await page.waitForSelector('[data-twin]:has-text("Safe mode: it crashed 3 times.")', { state: 'attached' });
  assert.equal(await page.textContent('[data-twin] q[lang=en]'), 'it crashed 3 times.');
});

test('modes other than the rotation have names, and hidden screens are marked', async () => {
  const setStatus = (overrides) => {
    clock.statusOverrides = overrides;
    clock.changed(clock.data());
  };
  for (const [mode, words] of Object.entries({
    zap: 'A zap',
    payment: 'A payment',
    splash: 'Starting',
    erasing: 'Everything is being erased',
    debug: 'The debug view',
    update: 'An update',
    portal: 'Wi-Fi set-up',
  })) {
    setStatus({ mode });
    await page.waitForSelector(`[data-current]:has-text("${words}")`);
  }
  for (const [overrides, rotation] of [
    [{ mode: 'zap' }, 'A new screen every 30 min; then Block Height again.'],
    [{ mode: 'safe-mode' }, ''],
    [{ data: ['NO/DATA', ''] }, ''],
  ]) {
    setStatus(overrides);
    await page.waitForFunction(
      (text) => document.querySelector('[data-rotation]').textContent.trim() === text,
      rotation,
    );
  }
  await page.waitForSelector('[data-current]:has-text("No data")');
  setStatus({ isOTAUpdating: true });
  await page.waitForSelector('[data-rotation]:has-text("An update is being installed")');
  clock.settings.timerSeconds = 0;
  clock.settings.screens.find(({ id }) => id === 40).enabled = false;
  setStatus({});
  await page.waitForSelector('[data-rotation]:has-text("Rotation is off.")');
  assert.equal(await page.getByRole('button', { name: /, not in the rotation$/ }).count(), 1);
});

test('a clock that is too old for the page causes a note in the language of the page', async () => {
  clock.settings.gitTag = '3.9.0';
  clock.changed(clock.data());
  await page.waitForSelector('[data-note] p:not([lang]):has-text("it has 3.9.0.")');
});

test('next, previous, pause and resume', async () => {
  await page.getByRole('button', { name: 'Next screen', exact: true }).click();
  assert.equal(await last(), 'POST /api/screen/next');
  await page.waitForSelector('[data-current]:has-text("Time")');
  await page.getByRole('button', { name: 'Previous screen', exact: true }).click();
  await page.waitForSelector('[data-current]:has-text("Block Height")');
  await page.getByRole('button', { name: 'Pause rotation', exact: true }).click();
  await page.waitForSelector('[data-rotation]:has-text("Paused by you")');
  await page.getByRole('button', { name: 'Resume rotation' }).click();
  await page.waitForSelector('[data-rotation]:has-text("A new screen every 30 min")');
});

test('the picture of the clock handles arrow keys and space', async () => {
  await page.getByRole('group', { name: /^The clock/ }).focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('[data-current]:has-text("Time")');
  await page.keyboard.press('ArrowLeft');
  await page.waitForSelector('[data-current]:has-text("Block Height")');
  await page.keyboard.press(' ');
  await page.waitForSelector('[data-rotation]:has-text("Paused by you")');
});

test('jump to a screen and choose a currency', async () => {
  await page.getByRole('button', { name: 'Ticker' }).click();
  assert.deepEqual(await last(), ['POST /api/show/screen', { s: 20 }]);
  await page.waitForSelector('button[aria-current="true"]:has-text("Ticker")');
  await page.getByRole('button', { name: 'EUR' }).click();
  await until('the currency', () => clock.currency === 'EUR');
  assert.deepEqual(await last(), ['POST /api/show/currency', { c: 'EUR' }]);
  await page.waitForSelector('[data-current]:has-text("EUR")');
  await page.waitForSelector('button[aria-current="true"]:has-text("EUR")');
});

test('a price screen shows how the price has moved in a day, as far as it is known', async () => {
  const reads = () => clock.log.filter(({ key }) => key === 'GET /api/history').map(({ search }) => search);
  const line = page.locator('[data-movement]');
  const jump = (name) => page.locator('#screens-title + ul').getByRole('button', { name, exact: true }).click();
  const price = clock.status().market.USD.value;
  clock.history = Array.from({ length: 145 }, (_, place) => (place === 60 ? null : price * (place < 60 ? 0.8 : 1.1)));
  // A failed request is sent again with the next status.
  await page.route('**/api/history?*', (route) => route.abort(), { times: 1 });
  const failed = page.waitForEvent('requestfailed');
  await jump('Ticker');
  await failed;
  clock.changed(clock.data());
  await page.getByRole('img', { name: /^The price in the last 24 hours: from [\d,.]+ to [\d,.]+$/ }).waitFor();
  assert.equal((await line.textContent()).trim(), '▲ 25.0% since yesterday');
  // A gap of the history is one of the line.
  assert.equal((await line.locator('path').getAttribute('d')).match(/M/g).length, 2);
  for (const [share, words] of [
    [0.79999, 'Unchanged since yesterday'],
    [0.7, '▼ 12.5% since yesterday'],
  ]) {
    clock.statusOverrides = { market: { USD: { ...clock.status().market.USD, value: String(price * share) } } };
    clock.changed(clock.data());
    await until(words, async () => (await line.textContent()).trim() === words);
  }
  clock.statusOverrides = { mode: 'zap' };
  clock.changed(clock.data());
  await line.waitFor({ state: 'detached' });
  clock.statusOverrides = {};
  clock.stale = true;
  clock.changed(clock.data());
  await until('no change', async () => (await line.textContent()).trim() === '');
  await jump('Sats per dollar');
  await line.waitFor({ state: 'detached' });
  clock.history = clock.history.slice(0, 11);
  clock.currency = 'EUR';
  await jump('Ticker');
  await until('a request', () => reads().length === 2);
  await jump('Block Height');
  await jump('Ticker');
  await page.waitForTimeout(300);
  assert.equal(await line.count(), 0);
  assert.deepEqual(
    reads(),
    ['USD', 'EUR'].map((code) => `?series=price&currency=${code}&span=day`),
  );
});

test('a custom text is typed with one letter per panel, shown and removed', async () => {
  await write();
  await page.keyboard.type('AB');
  await page.keyboard.press('Backspace');
  await until('one letter less', () => clock.previewed?.join('') === 'A');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('₿ITCOI');
  await page.keyboard.press('Home');
  await page.keyboard.type('B');
  await page.keyboard.press('End');
  await page.keyboard.type('X');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('N');
  await until('a picture of it', () => clock.previewed?.join('') === 'BITCOIN');
  await page.waitForFunction(
    () => document.querySelectorAll('[data-composer] canvas').length === 7 && !document.querySelector('.typed'),
  );
  assert.equal(clock.custom, null);
  await page.keyboard.press('Enter');
  await until('the text', () => clock.custom?.join('') === 'BITCOIN');
  await page.waitForSelector('[data-current]:has-text("Your text")');
  await page.getByRole('button', { name: 'Back to the screens' }).click();
  await page.waitForSelector('[data-current]:has-text("Block Height")');
});

test('a word on a panel, an icon, and a pasted text', async () => {
  await write();
  await page.locator('[data-whole]').fill('TOP/LOW');
  await page.locator('[data-composer] input').nth(1).focus();
  await page.getByRole('button', { name: 'rocket' }).click();
  await page.locator('[data-composer] input').nth(2).focus();
  await page.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text', 'GM ALL OF YOU');
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }));
  });
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  const text = ['TOP/LOW', 'mdi:rocket-launch', 'G', 'M', '', 'A', 'L'];
  await until('the text', () => JSON.stringify(clock.custom) === JSON.stringify(text));
});

test('a text is saved, shown again, changed and removed', async () => {
  await write();
  await page.keyboard.type('HODL');
  await page.getByRole('button', { name: 'Save text', exact: true }).click();
  await page.waitForSelector('[data-saved="HODL"]');
  assert.deepEqual(clock.settings.keptTexts, [['H', 'O', 'D', 'L', '', '', '']]);
  assert.equal(await page.getByRole('button', { name: 'Text is saved', exact: true }).isDisabled(), true);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'HODL', exact: true }).click();
  await until('the text', () => clock.custom?.join('') === 'HODL');
  await page.getByRole('button', { name: 'Change HODL' }).click();
  await page.waitForFunction(() => document.querySelector('[data-composer] [data-whole]')?.value === 'H');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Remove HODL' }).click();
  await page.waitForSelector('[data-saved]', { state: 'detached' });
  assert.deepEqual(clock.settings.keptTexts, []);
});

test('the welcome form is shown once and can be skipped', async () => {
  clock.settings.welcomed = false;
  clock.changed(clock.data());
  await page.waitForSelector('[data-first-run]');
  await page.getByRole('button', { name: 'Skip' }).click();
  await page.waitForSelector('[data-first-run]', { state: 'detached' });
  assert.equal(clock.settings.welcomed, true);
  await page.reload();
  await page.waitForSelector('[data-current]:has-text("Block Height")');
  assert.equal(await page.locator('[data-first-run]').count(), 0);
});

test('the welcome form saves all values in one request', async () => {
  clock.settings.welcomed = false;
  clock.changed(clock.data());
  const form = page.locator('[data-first-run]');
  await form.getByLabel('Time zone').fill('Mars/Olympus');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('There is no such time zone.').waitFor();
  assert.equal(clock.settings.welcomed, false);
  await form.getByLabel('Time zone').fill('Europe/Berlin');
  await form.getByLabel('Currency').selectOption('EUR');
  await form.getByLabel('Name on the network').fill('kitchen');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  const { tzString, actCurrencies, hostnamePrefix, welcomed, httpAuthEnabled } = clock.settings;
  assert.deepEqual(
    [tzString, actCurrencies, hostnamePrefix, welcomed, httpAuthEnabled],
    ['Europe/Berlin', ['EUR'], 'kitchen', true, false],
  );
});

test('the welcome form suggests the time zone of the browser and has a field for the host of a source', async () => {
  clock.settings.welcomed = false;
  const context = await browser.newContext({ timezoneId: 'Pacific/Auckland' });
  const { page: fresh, faults: wrong } = await openPage(context, clock.url);
  const form = fresh.locator('[data-first-run]');
  assert.equal(await form.getByLabel('Time zone').inputValue(), 'Pacific/Auckland');
  await form.getByLabel('Source of blocks').selectOption({ index: 1 });
  await form.getByLabel('Host of the explorer').fill('explorer.lan');
  await form.getByLabel('Source of blocks').selectOption({ index: 3 });
  await form.getByLabel('Host of your relay').fill('relay.lan:8080');
  await form.getByRole('button', { name: 'Save' }).click();
  const { body } = await until('a PATCH', () => clock.log.find(({ key }) => key === 'PATCH /api/settings'));
  assert.deepEqual(body, {
    tzString: 'Pacific/Auckland',
    dataSource: 3,
    ceEndpoint: 'relay.lan:8080',
    welcomed: true,
  });
  assert.deepEqual(wrong, []);
  await context.close();
});

test('the welcome form warns of a weak password', async () => {
  clock.settings.welcomed = false;
  clock.changed(clock.data());
  const form = page.locator('[data-first-run]');
  await form.getByLabel('Password').fill('1');
  await form.locator('[data-advice]').getByText('Only digits').waitFor();
  await form.getByLabel('Password').fill('correct horse battery');
  await form.locator('[data-advice]').waitFor({ state: 'detached' });
  await form.getByRole('button', { name: 'Save' }).click();
  await until('a restart', () => posts().includes('POST /api/restart'));
  const { body } = clock.log.find(({ key }) => key === 'PATCH /api/settings');
  assert.deepEqual([body.httpAuthEnabled, body.httpAuthPass], [true, 'correct horse battery']);
});

test('cards have equal gaps', async () => {
  for (const market of [{}, clock.status().market]) {
    clock.statusOverrides = { market };
    clock.changed(clock.data());
    for (const width of [390, 701, 768, 1000, 1060, 1061, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const gaps = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll('.cards .card')].map((card) => card.getBoundingClientRect());
        const columns = Map.groupBy(boxes, ({ left }) => Math.round(left));
        return [...columns.values()].flatMap((column) =>
          column.slice(1).map((box, above) => Math.round(box.top - column[above].bottom)),
        );
      });
      assert.ok(gaps.length > 2, String(width));
      assert.deepEqual(new Set(gaps), new Set([16]), String(width));
    }
  }
});

test('the LEDs play an effect by its name', async () => {
  await page.getByLabel('Effect of the LEDs').selectOption('heartbeat');
  await page.getByRole('button', { name: 'Play' }).click();
  assert.deepEqual(await last(), ['POST /api/lights/effect', { name: 'heartbeat' }]);
});

test('lights: one LED, all, off, and live', async () => {
  await page.getByText('LED 2').locator('xpath=ancestor::label').click();
  await page.getByRole('button', { name: 'Colour #38D430' }).click();
  await until('a colour', () => clock.leds[1] === '#38D430');
  assert.deepEqual(clock.leds, ['#000000', '#38D430', '#000000', '#000000']);
  await page.waitForSelector('[data-led="#38D430"]');
  await page.getByText('All', { exact: true }).click();
  await page.getByRole('button', { name: 'Colour #2F6BFF' }).click();
  await until('all of one colour', () => clock.leds.every((hex) => hex === '#2F6BFF'));
  await page.waitForSelector('[data-led="#2F6BFF"]');
  await page.getByText('LED 2').locator('xpath=ancestor::label').click();
  await page.getByRole('button', { name: 'Colour #38D430' }).click();
  await until('one of another', () => clock.leds[1] === '#38D430');
  assert.deepEqual(clock.leds, ['#2F6BFF', '#38D430', '#2F6BFF', '#2F6BFF']);
  await page.getByRole('button', { name: 'Off', exact: true }).click();
  await until('dark', () => clock.leds.every((hex) => hex === '#000000'));
});

test('the reason for dark LEDs is shown', async () => {
  assert.equal(await page.locator('[data-muted]').count(), 0);
  for (const [change, why] of [
    [() => (clock.settings.disableLeds = true), 'switched off in the settings'],
    [
      () => Object.assign(clock.settings, { disableLeds: false, dnd: { ...clock.settings.dnd, enabled: true } }),
      'Do Not',
    ],
  ]) {
    change();
    clock.changed(clock.data());
    await page.waitForSelector(`[data-muted]:has-text("${why}")`);
  }
  clock.settings.dnd.enabled = false;
  clock.changed(clock.data());
  await page.waitForSelector('[data-muted]', { state: 'detached' });
});

test('frontlight and Do Not Disturb', async () => {
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('button', { name: 'Turn off' }).waitFor();
  await page.getByRole('button', { name: 'Flash' }).click();
  await until('a flash', () => posts().includes('POST /api/frontlight/flash'));
  await page.getByLabel('Brightness').fill('1024');
  await until('a brightness', () => clock.front.brightness === 1024);
  await page.getByRole('switch', { name: 'Do Not Disturb' }).click();
  await page.getByText('On, until you turn it off').waitFor();
  assert.equal(clock.settings.dnd.enabled, true);
  await page.getByRole('switch', { name: 'Do Not Disturb' }).click();
  await until('an end of it', () => !clock.settings.dnd.enabled);
  await page.getByRole('button', { name: 'Turn off' }).click();
  await until('a dark frontlight', () => !clock.front.on);
});

test('a switch does not change if the request fails, and the error is shown', async () => {
  const dnd = page.getByRole('switch', { name: 'Do Not Disturb' });
  for (const [status, error, words] of [
    [400, 'not now', 'The clock refused: not now'],
    [401, 'not now', 'The clock requires you to sign in.'],
    [403, 'not now', 'The clock refused this request.'],
    [403, 'cross-site request', `Start it with --public-url ${new URL(page.url()).origin}`],
  ]) {
    const response = { status, json: { error } };
    await page.route('**/api/dnd/enable', (route) => route.fulfill(response), { times: 1 });
    await dnd.click();
    await page.waitForSelector(`.notice.bad:has-text("${words}")`);
    assert.equal(await dnd.isChecked(), false);
  }
});

test('a warning sign is explained: its meaning, its cause, and what removes it', async () => {
  const mark = page.locator('[data-mark]');
  assert.equal(await mark.count(), 0);
  const { phrase } = clock;
  const { truth } = clock.status();
  const proofs = [{ source: 'relay', value: 900123 }];
  const claimed = [{ source: 'explorer', value: 900125 }];
  for (const [words, state, texts] of [
    [
      'Nothing proves this so far, or one source alone has it.',
      'alone',
      ['900,123 has come from Relay alone; the sign', 'Relay: 900,123 (checked)', 'another source confirms'],
    ],
    [
      'The sources disagree about this, or it cannot be.',
      'disputed',
      ['has been contradicted by Block explorer (900,125)', 'Block explorer: 900,125 (2 ahead)', 'most sources agree'],
    ],
    ['This is older than it should be.', 'stale', ['Relay sent it', 'with the next value']],
  ]) {
    clock.phrase = { words: '{sentence} {mark}', values: { sentence: phrase, mark: { words, values: {} } } };
    clock.statusOverrides = {
      currentScreen: 0,
      truth: { ...truth, height: { ...truth.height, state, proofs, claimed } },
    };
    clock.changed(clock.data());
    await page.waitForSelector(`[data-mark="${state}"]`);
    const shown = (await mark.innerText()).replace(/\s+/g, ' ');
    for (const text of texts) assert.ok(shown.includes(text), `${text}: ${shown}`);
  }
  clock.phrase = phrase;
  clock.statusOverrides = {};
  clock.changed(clock.data());
  await mark.waitFor({ state: 'detached' });
});

test('the picture of the panels is saved as a file', async () => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save the picture' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), `${clock.settings.hostname}.png`);
});

test('figures of the mining pool are among the values, with their source and age', async () => {
  const line = page.locator('li', { hasText: 'Hashrate' });
  assert.match(await line.innerText(), /Hashrate\s+Mining pool\s+512\.34 TH\/s\s+(just now|\d+ s ago)/);
  // Their age counts up while no status arrives.
  const age = async () => Number(/(\d+) s ago/.exec(await line.innerText())?.[1] ?? 0);
  const before = await age();
  await until('a higher age', async () => (await age()) > before, 10_000);
});

test('the verification of a value is shown with the values of all sources', async () => {
  const voices = [
    { source: 'relay', value: '64211.50', verdict: 'agrees' },
    { source: 'bitstamp', value: '8200.00', verdict: 'apart' },
  ];
  clock.statusOverrides = { truth: { ...clock.status().truth, prices: { USD: { state: 'disputed', voices } } } };
  clock.changed(clock.data());
  const line = page.locator('[data-value="USD"][data-state="disputed"]');
  await line.getByText('has been contradicted by Bitstamp (8,200.00)').waitFor();
  await line.locator('summary').click();
  const claims = (await line.locator('li').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
  assert.deepEqual(claims, ['Relay 64,211.50 agrees', 'Bitstamp 8,200.00 contradicts']);
  assert.deepEqual(await line.locator('.apart').allInnerTexts(), ['contradicts']);
});

test('problems of the clock are shown while they exist', async () => {
  assert.equal(await page.locator('[data-trouble]').count(), 0);
  clock.statusOverrides = {
    panelFaults: [{ panel: 2, fault: 'busy-stuck' }],
    link: { state: 'disconnected', network: 'radio', ssid: 'Home', failure: 'lost' },
    notes: ['The settings were damaged.'],
  };
  clock.changed(clock.data());
  await page.waitForSelector('[data-trouble]:has-text("The clock has lost “Home”: the connection was lost.")');
  await page.waitForSelector('[data-note] p[lang="en"]:text-is("The settings were damaged.")');
  await page.waitForSelector('[data-trouble]:has-text("Panel 3 shows an older picture")');
  clock.statusOverrides = {};
  clock.changed(clock.data());
  await page.waitForFunction(() => !document.querySelector('[data-trouble]'));
});

test('safe mode has one banner with its reason and a button to restart', async () => {
  clock.statusOverrides = {
    mode: 'safe-mode',
    safeMode: 'it crashed 3 times: panic',
    notes: ['The settings were damaged.'],
    connectionStatus: { price: false, blocks: false },
    sources: { relay: { up: false, ageSec: 7_260 } },
  };
  clock.changed(clock.data());
  const banner = page.locator('[data-safe-mode]');
  await banner.getByText('Safe mode: the clock runs without data.').waitFor();
  await banner.locator('[lang="en"]:text-is("it crashed 3 times: panic")').waitFor();
  await page.waitForSelector('[data-current]:has-text("Safe mode")');
  assert.equal(await page.locator('[data-note], [data-outage], [data-trouble]').count(), 0);
  await banner.getByRole('button', { name: 'Try again' }).click();
  await until('a restart', () => clock.log.some(({ key }) => key === 'POST /api/restart'));
  clock.statusOverrides = {};
  await page.waitForSelector('[data-link="live"]');
  clock.changed(clock.data());
  // The page may be waiting for its next attempt to reconnect.
  await banner.waitFor({ state: 'detached', timeout: 20_000 });
});

test('a restart needs a confirmation, and the page reconnects', async () => {
  await page.getByRole('button', { name: 'Restart…' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.deepEqual(posts(), []);
  await page.getByRole('button', { name: 'Restart…' }).click();
  await page.getByRole('button', { name: 'Restart', exact: true }).click();
  await page.waitForSelector('[data-banner]:has-text("The clock is restarting")');
  await page.getByRole('button', { name: /^Try now/ }).click();
  await page.waitForSelector('[data-link="live"]');
  await page.waitForSelector('[data-banner]', { state: 'detached' });
  // A later outage is no restart.
  await clock.goAway();
  await page.waitForSelector('[data-banner]:has-text("does not answer")');
  await clock.comeBack();
});

test('a lost connection is shown, and the page reconnects by itself', async () => {
  await clock.goAway();
  await page.waitForSelector('[data-banner]:has-text("does not answer")');
  clock.height += 1;
  await clock.comeBack();
  await page.waitForSelector('[data-link="live"]', { timeout: 10_000 });
  await page.waitForSelector('[data-banner]', { state: 'detached' });
  await page.waitForFunction(() => document.querySelectorAll('canvas')[6].dataset.version === '2');
});

test('the page opens while the clock is unreachable, with the last pictures and their age', async () => {
  // The service worker caches only files that are loaded while it controls the page.
  await page.waitForFunction(async () => (await navigator.serviceWorker.ready) && navigator.serviceWorker.controller);
  await page.reload();
  await page.waitForSelector('[data-link="live"]');
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
  const drawn = await ink(6);
  await clock.goAway();
  await page.reload();
  const banner = page.locator('[data-banner]');
  await banner.getByText(/The picture is \d+ s old\./).waitFor();
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
  assert.deepEqual(await ink(6), drawn);
  await page.goto(`${clock.url}/settings/quiet`);
  await banner.getByText('The clock does not answer.').waitFor();
  // After a reconnect, current pictures replace the stored ones.
  clock.height += 1;
  await clock.comeBack();
  await page.goto(clock.url);
  await page.waitForSelector('[data-link="live"]');
  await page.waitForFunction(() => document.querySelectorAll('canvas')[6]?.dataset.version === '1');
  assert.notEqual((await ink(6)).text, drawn.text);
});

test('stored pictures are removed when the clock requires a sign-in', async () => {
  await page.reload();
  const snapshot = () => page.evaluate(() => localStorage.getItem('papertick-last'));
  assert.notEqual(await snapshot(), null);
  await lock();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor({ timeout: 10_000 });
  assert.equal(await snapshot(), null);
  assert.equal(await page.locator('canvas').count(), 0);
});

test('an outdated page offers to reload', async () => {
  assert.equal(await page.locator('[data-outdated]').count(), 0);
  await page.route('**/manifest.json', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), commit: 'another' } });
  });
  await clock.goAway();
  await clock.comeBack();
  const note = page.locator('[data-outdated]');
  await note.getByText('The clock has a newer page than this one.').waitFor({ timeout: 10_000 });
  await Promise.all([page.waitForEvent('load'), note.getByRole('button', { name: 'Reload' }).click()]);
  await page.waitForSelector('[data-link="live"]');
  assert.equal(await note.count(), 0);
});

test('each source shows its state and error, and can be restarted alone', async () => {
  const source = (name) => page.locator(`[data-source="${name}"]`);
  await source('Relay').getByText('works').waitFor({ state: 'attached' });
  assert.equal(await source('Relay').getByRole('button').count(), 0);
  clock.statusOverrides = {
    sources: { relay: clock.source('relay'), pool: { ...clock.source('pool'), ageSec: 7_300, nextTrySec: 42 } },
    mqtt: { ...clock.source('relay'), lastError: 'the broker does not let the clock listen to a/b' },
  };
  clock.changed(clock.data());
  const pool = source('Mining pool');
  await pool.getByText('is down').waitFor({ state: 'attached' });
  assert.equal(await pool.locator('q').innerText(), 'Connection refused.');
  assert.match(await pool.innerText(), /4[0-2] s/);
  // A connected broker can have an error too, but no button to restart it.
  const broker = source('MQTT broker');
  await broker.getByText('works').waitFor({ state: 'attached' });
  assert.match(await broker.locator('q').innerText(), /does not let the clock listen to a\/b/);
  assert.equal(await broker.getByRole('button').count(), 0);
  await pool.getByRole('button', { name: /^Try now.*Mining pool$/ }).click();
  assert.deepEqual(await last(), ['POST /api/restart_datasources', { source: 'pool' }]);
  await page.waitForSelector('.notice:has-text("Mining pool: trying again.")');
});

test('buttons refresh the panels and let the LEDs blink', async () => {
  await page.getByRole('button', { name: 'Full refresh' }).click();
  await page.waitForSelector('.notice:has-text("All panels are being refreshed.")');
  assert.equal(await last(), 'POST /api/full_refresh');
  await page.getByRole('button', { name: 'Clean panels' }).click();
  await until('a cleaning', async () => (await last()) === 'POST /api/clean_panels');
  await page.locator('#system').getByRole('button', { name: 'Identify' }).click();
  await page.waitForSelector('.notice:has-text("The LEDs blink.")');
  assert.equal(await last(), 'POST /api/identify');
});

test('quiet hours are shown, and whether they are active', async () => {
  const card = page.locator('[aria-labelledby="quiet-title"]');
  await card.getByText('No daily schedule.').waitFor();
  const { dnd } = clock.status();
  clock.statusOverrides = { dnd: { ...dnd, dndTimeEnabled: true, startTime: '22:05', endTime: '6:45', active: true } };
  clock.changed(clock.data());
  await card.getByText('Every day from 22:05 to 6:45.').waitFor();
  await card.getByText('Quiet now, by the schedule.').waitFor();
});

test('a failed request of a control shows a notice', async () => {
  await clock.goAway();
  await page.getByRole('button', { name: 'Next screen', exact: true }).click();
  await page.waitForSelector('.notice:has-text("The clock does not answer.")');
  await clock.comeBack();
});

test('the theme can be chosen and is stored', async () => {
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await ground();
  await page.getByRole('button', { name: /^Colours/ }).click();
  const light = await ground();
  assert.notEqual(light, dark);
  await page.reload();
  assert.equal(await ground(), light);
});

test('nothing is wider than a phone', async () => {
  await page.setViewportSize({ width: 320, height: 640 });
  for (const view of ['Clock', 'Settings']) {
    await page.getByRole('link', { name: view, exact: true }).click();
    await page.waitForTimeout(150);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 320, `${view}: ${wide} px`);
  }
});

test('every control has a name', async () => {
  for (const view of ['Clock', 'Settings']) {
    await page.getByRole('link', { name: view, exact: true }).click();
    await page.waitForTimeout(150);
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('button, input, select, a')]
        .filter(
          (control) =>
            !(
              control.textContent.trim() ||
              control.getAttribute('aria-label') ||
              [...(control.labels ?? [])].some((label) => label.textContent.trim())
            ),
        )
        .map((control) => control.outerHTML.slice(0, 120)),
    );
    assert.deepEqual(nameless, []);
  }
});

test('the keyboard reaches every control with a visible focus', async () => {
  const reached = new Set();
  for (let tabs = 0; tabs < 120; tabs += 1) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate(() => {
      const active = document.activeElement;
      if (!active || active === document.body) return null;
      const places = [active, active.nextElementSibling, active.parentElement].filter(Boolean);
      const outlined = places.some((place) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(place);
        return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
      });
      active.dataset.reached = 'yes';
      return { what: active.outerHTML.slice(0, 100), outlined };
    });
    if (!focus) break;
    assert.ok(focus.outlined, `no visible focus: ${focus.what}`);
    reached.add(focus.what);
  }
  const missed = await page.evaluate(() =>
    [...document.querySelectorAll('button, a, select, input:not([type="radio"]), summary, [tabindex="0"]')]
      .filter((control) => !control.disabled && control.checkVisibility() && !control.dataset.reached)
      .map((control) => control.outerHTML.slice(0, 100)),
  );
  assert.deepEqual(missed, []);
});

test('a skip link leads keyboard users to the content', async () => {
  await page.reload();
  await page.waitForSelector('[data-link="live"]');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement.matches('main'));
});

test('one panel shows everything in its shape, and its layout is named', async () => {
  await clock.close();
  clock = new MockClock({ frontlight: false, size: [800, 480] });
  clock.settings.panelLayout = 1;
  const url = await clock.listen();
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  const { page, faults } = await openPage(context, url);
  const panel = page.locator('[data-panel]');
  await panel.locator('canvas').waitFor();
  const { width, height } = await panel.boundingBox();
  assert(height <= 450 && Math.abs(width / height - 800 / 480) < 0.01, `${width}x${height}`);
  assert.equal(await panel.count(), 1);
  await page.locator('#system').getByText('a board of screens').waitFor();
  // It does not follow the rotation, and has no buttons.
  await page.locator('[data-current]').getByText('A board of screens').waitFor();
  for (const name of ['Next screen', 'Button 2: next screen']) {
    assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  }
  const version = await panel.locator('canvas').getAttribute('data-version');
  const before = clock.data();
  clock.height += 1;
  clock.changed(before);
  await page.waitForFunction((old) => document.querySelector('canvas').dataset.version !== old, version);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a board with eight panels and no frontlight', async () => {
  await clock.close();
  clock = new MockClock({ panels: 8, frontlight: false });
  const url = await clock.listen();
  const context = await browser.newContext();
  const other = await openPage(context, url);
  await other.page.waitForFunction(() => document.querySelectorAll('canvas').length === 8);
  assert.equal(await other.page.getByText('Frontlight').count(), 0);
  assert.deepEqual(other.faults, []);
  await context.close();
});
