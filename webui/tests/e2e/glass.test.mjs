// The full screen page, and the section of the page about other screens.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { MockClock } from '../mock/clock.mjs';
import { introduced } from '../mock/displays.mjs';
import { launch, openPage, until } from './browser.mjs';

let browser;
let clock;
let context;
let faults;

before(async () => (browser = await launch()));
after(() => browser.close());

beforeEach(async () => {
  clock = new MockClock();
  await clock.listen();
  faults = [];
});

afterEach(async () => {
  assert.deepEqual(faults, []);
  await context.close();
  await clock.close();
});

const VIEWPORT = { width: 600, height: 400 };

/** Opens the full screen page and waits for its first picture. */
async function openGlass(path = '/glass', options = {}) {
  context = await browser.newContext({ viewport: VIEWPORT, deviceScaleFactor: 2, ...options });
  const page = await context.newPage();
  // The page refreshes at each full minute; none passes while requests are counted.
  await page.clock.setFixedTime(new Date(2026, 0, 1, 12, 0, 1));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => /policy/i.test(message.text()) && faults.push(message.text()));
  const aborted = [];
  page.on('requestfailed', (request) => aborted.push(request.url()));
  await page.goto(clock.url + path);
  await page.waitForFunction(() => document.querySelector('canvas')?.width > 300);
  assert.deepEqual(aborted, []);
  return page;
}

const frames = () => clock.log.filter(({ key }) => key === 'GET frame');
const shows = (text, query = '') =>
  until(text, () => frames().some((frame) => frame.text === text && frame.search.includes(query)));
const steps = () => clock.log.map(({ key }) => key).filter((key) => key.startsWith('POST /api/screen'));
const next = () => clock.data().join('');

/** Storage keys of the pictures of full screen pages. */
const storedPictures = (page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('papertick-glass')));

/** Changes the block height. */
function mine() {
  const before = clock.data();
  clock.height += 1;
  clock.changed(before);
}

describe('full screen', () => {
  test('the picture fits the screen pixel by pixel and follows the clock', async () => {
    const page = await openGlass('/glass?dark=false');
    assert.equal(new URL(page.url()).search, '?dark=false&live');
    await shows(next(), 'width=1200&height=800&depth=8&dark=false');
    // A picture of the same size is drawn over the one before where it differs.
    const pixels = await page.evaluate(() => {
      const canvas = document.querySelector('canvas');
      const pen = canvas.getContext('2d');
      pen.lineWidth = 7;
      const { drawImage } = pen;
      pen.drawImage = (...args) => {
        (window.drawn ??= []).push(args.slice(5));
        drawImage.apply(pen, args);
      };
      return canvas.toDataURL();
    });
    mine();
    await shows(next());
    await page.waitForFunction((before) => document.querySelector('canvas').toDataURL() !== before, pixels);
    assert.equal(await page.evaluate(() => document.querySelector('canvas').getContext('2d').lineWidth), 7);
    const drawn = await page.evaluate(() => window.drawn);
    assert(drawn.length > 0 && drawn.length < 50, `${drawn.length} of 247 squares`);
    await page.setViewportSize({ width: 400, height: 600 });
    await shows(next(), 'width=800&height=1200');
    await page.waitForFunction(() => document.querySelector('canvas').width === 800);
    // A status that changes nothing visible loads no picture.
    const before = frames().length;
    const { USD } = clock.status().market;
    clock.statusOverrides = { market: { ...clock.status().market, USD: { ...USD, ageSec: USD.ageSec + 1 } } };
    clock.settings.dnd.enabled = true;
    clock.changed(clock.data());
    await page.waitForFunction(() => document.documentElement.classList.contains('quiet'));
    mine();
    await shows(next());
    assert.equal(frames().length, before + 1);
    assert.equal(await page.getAttribute('canvas', 'aria-label'), clock.status().says);
    assert.equal(clock.streams.size, 1);
  });

  test('the keys go through the screens, as does the menu that a tap opens; a failure is shown', async () => {
    const page = await openGlass();
    const menu = page.getByRole('dialog', { name: 'Menu' });
    await page.mouse.click(100, 100);
    await menu.getByRole('button', { name: 'Next screen' }).click();
    await until('a step', () => steps().length === 1);
    await page.mouse.click(100, 100);
    await menu.waitFor({ state: 'hidden' });
    for (const key of ['Space', 'ArrowRight', 'ArrowLeft', 'Enter', 'ArrowDown', 'ArrowUp']) {
      const before = steps().length;
      await page.keyboard.press(key);
      await until(key, () => steps().length > before);
    }
    const [forward, back] = ['/api/screen/next', '/api/screen/previous'];
    assert.deepEqual(
      steps(),
      [forward, forward, forward, back, forward, forward, back].map((path) => `POST ${path}`),
    );
    await page.mouse.click(100, 100);
    await menu.getByRole('button', { name: 'Full screen' }).click();
    await page.waitForFunction(() => document.fullscreenElement !== null);
    await page.keyboard.press('f');
    await page.waitForFunction(() => document.fullscreenElement === null);
    await page.waitForFunction(() => document.documentElement.classList.contains('idle'));
    assert.equal(steps().length, 7);
    await page.route('**/api/screen/next', (route) => route.fulfill({ status: 503, json: { error: 'stopping' } }));
    await page.keyboard.press('Space');
    await page.getByText('The clock refused: stopping').waitFor();
    await page.getByText('The clock refused: stopping').waitFor({ state: 'detached' });
  });

  test('a layout is chosen in the menu, also by keyboard, and remembered; one in the address wins', async () => {
    const page = await openGlass();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const pressed = () => page.locator('.menu [aria-pressed="true"]').textContent();
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    assert.equal(await pressed(), 'One figure');
    await page.keyboard.press('Escape');
    await page.keyboard.press('m');
    for (const [key, name] of [
      ['ArrowUp', 'Full screen'],
      ['ArrowDown', 'Next screen'],
      ['ArrowRight', 'One figure'],
      ['ArrowDown', 'Board'],
    ]) {
      await page.keyboard.press(key);
      assert.equal(await focused(), name);
    }
    await page.keyboard.press('Space');
    await shows('20 3 0 10 6 4', 'layout=board');
    // A board has no next screen.
    await page.keyboard.press('m');
    assert.equal(await focused(), 'One figure');
    await page.keyboard.press('m');
    await page.keyboard.press('Space');
    await page.reload();
    await shows('20 3 0 10 6 4', 'layout=board');
    assert.deepEqual(steps(), []);
    // Each layout has a stored picture of its own.
    assert.match((await storedPictures(page)).join(), /layout=board/);
    await page.goto(`${clock.url}/glass?layout=row`);
    await shows(next(), 'layout=row');
    await page.mouse.click(100, 100);
    assert.equal(await pressed(), 'Cells');
    await page.keyboard.press('Escape');
    await page.locator('.menu').waitFor({ state: 'hidden' });
    await page.mouse.click(100, 100);
    await page.getByRole('button', { name: 'One figure' }).click();
    await shows(next(), 'layout=figure');
    assert.match(page.url(), /layout=figure/);
  });

  test('another screen than the clock stays there', async () => {
    const page = await openGlass('/glass?screen=20');
    await shows(clock.data(20).join(''), 'screen=20');
    await page.keyboard.press('Space');
    mine();
    await until('a request', () => frames().at(-1).notModified);
    assert.deepEqual(steps(), []);
    await page.goto(`${clock.url}/glass?screen=77`);
    await page.getByText('The clock refused: unknown screen id').waitFor();
  });

  test('a transparent page has only ink', async () => {
    for (const [path, ink] of [
      ['/glass?transparent', 0],
      ['/glass?transparent&dark', 255],
    ]) {
      const page = await openGlass(path);
      const [colours, alphas] = await page.evaluate(() => {
        const canvas = document.querySelector('canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const at = (offset) => [...new Set(data.filter((_, place) => place % 4 === offset))].sort();
        const isInk = (_, place) => data[place - (place % 4) + 3] > 0 && place % 4 < 3;
        return [[...new Set(data.filter(isInk))], at(3)];
      });
      assert.deepEqual([colours, alphas], [[ink], [0, 255]], path);
      const backgrounds = await page.evaluate(() =>
        [document.documentElement, document.body].map((element) => getComputedStyle(element).backgroundColor),
      );
      assert.deepEqual(backgrounds, ['rgba(0, 0, 0, 0)', 'rgba(0, 0, 0, 0)']);
      await context.close();
    }
    context = await browser.newContext();
  });

  test('quiet hours dim the picture', async () => {
    const page = await openGlass();
    const shade = () => page.evaluate(() => getComputedStyle(document.body, '::after').opacity);
    assert.equal(await shade(), '1');
    clock.settings.dnd.enabled = true;
    clock.changed(clock.data());
    await until('a shade', async () => (await shade()) === '0.65');
  });

  test('the screen stays on, and once a minute the picture moves and is refreshed', async () => {
    context = await browser.newContext({ viewport: VIEWPORT });
    const page = await context.newPage();
    await page.clock.install();
    await page.addInitScript(() => {
      globalThis.locks = 0;
      navigator.wakeLock.request = async () => (globalThis.locks += 1);
    });
    await page.goto(`${clock.url}/glass`);
    await page.clock.runFor(1_000);
    await page.waitForFunction(() => document.querySelector('canvas')?.width === 600);
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.waitForFunction(() => globalThis.locks === 2);
    const place = () => page.evaluate(() => document.querySelector('canvas').style.transform);
    const before = await place();
    clock.log = [];
    await page.clock.runFor(60_000);
    assert.notEqual(await place(), before);
    await until('a request', () => frames().at(-1)?.notModified);
  });

  test('an outage shows the last picture with its age, also after a reload, and ends by itself', async () => {
    const page = await openGlass('/glass');
    // After a reload, the service worker controls the page.
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.reload();
    await page.waitForFunction(() => document.querySelector('canvas')?.width === 1200);
    await clock.goAway();
    await page.getByText(/No connection to the clock\. Picture \d+ sec old\./).waitFor();
    assert.equal(await page.evaluate(() => document.querySelector('canvas').width), 1200);
    await page.reload();
    await page.getByText(/No connection to the clock\. Picture \d+ sec old\./).waitFor();
    await page.waitForFunction(() => document.querySelector('canvas').width === 1200);
    clock.height += 1;
    await clock.comeBack();
    await shows(next());
    await page.getByText('No connection to the clock.').waitFor({ state: 'detached' });
  });

  test('after a sleep the picture is as old as the last bytes of the clock', async () => {
    context = await browser.newContext({ viewport: VIEWPORT });
    const page = await context.newPage();
    await page.clock.install();
    // A response that arrived before the sleep is read after it. Requests in flight can be lost when a route is added.
    let isAsleep = false;
    let isWaiting = false;
    let release;
    const released = new Promise((done) => (release = done));
    await page.route(/frame\.png/, async (route) => {
      if (!isAsleep) return route.continue();
      if (isWaiting) return route.abort();
      isWaiting = true;
      const response = await route.fetch();
      await released;
      await route.fulfill({ response });
    });
    await page.goto(`${clock.url}/glass`);
    await page.waitForFunction(() => document.querySelector('canvas')?.width === 600);
    isAsleep = true;
    mine();
    await until('a request', () => isWaiting);
    await page.route(/events/, (route) => route.abort());
    // Timers stand still while a device sleeps.
    await page.clock.setSystemTime((await page.evaluate(() => Date.now())) + 8 * 3_600_000);
    release();
    await page.getByText('No connection to the clock. Picture 8 hr old.').waitFor();
  });

  test('a browser that lacks an API stays on the picture', async () => {
    context = await browser.newContext({ viewport: VIEWPORT });
    const page = await context.newPage();
    await page.addInitScript(() => delete globalThis.createImageBitmap);
    for (const [path, search] of [
      ['/glass', ''],
      ['/glass?screen=20&live', '?screen=20'],
    ]) {
      await page.goto(clock.url + path);
      await page.locator('img').waitFor();
      await page.waitForLoadState('networkidle');
      assert.deepEqual([new URL(page.url()).search, await page.locator('canvas').count()], [search, 0]);
    }
  });

  test('signing out on the page removes the pictures of all full screen pages', async () => {
    clock.password = 'correct horse';
    context = await browser.newContext({ viewport: VIEWPORT });
    const main = await context.newPage();
    await main.goto(clock.url);
    const form = main.locator('[data-sign-in]');
    await form.getByLabel('Password').fill(clock.password);
    await form.getByLabel('Stay signed in').check();
    await form.getByRole('button', { name: 'Sign in' }).click();
    await main.waitForSelector('[data-link="live"]');
    const page = await context.newPage();
    for (const path of ['/glass', '/glass?dark', '/glass?screen=20']) {
      await page.goto(clock.url + path);
      await page.waitForFunction(() => document.querySelector('canvas')?.width === 600);
    }
    assert.equal((await storedPictures(main)).length, 2);
    await main.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await storedPictures(main), []);
  });

  test('a picture that arrives after the sign-in ended is neither shown nor stored', async () => {
    const page = await openGlass();
    let isWaiting = false;
    let release;
    const released = new Promise((done) => (release = done));
    await page.route(/frame\.png/, async (route) => {
      const response = await route.fetch();
      isWaiting = true;
      await released;
      await route.fulfill({ response });
    });
    mine();
    await until('a request', () => isWaiting);
    clock.password = 'correct horse';
    await clock.goAway();
    await clock.comeBack();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    const arrival = page.waitForEvent('requestfinished', (request) => request.url().includes('frame.png'));
    release();
    await arrival;
    await page.waitForTimeout(200);
    assert.equal(await page.evaluate(() => document.querySelector('canvas').width), 0);
    await page.evaluate(() => dispatchEvent(new Event('pagehide')));
    assert.deepEqual(await storedPictures(page), []);
  });

  test('the sign-in form is on the main page', async () => {
    const page = await openGlass();
    clock.password = 'correct horse';
    await clock.goAway();
    await clock.comeBack();
    const link = page.getByRole('link', { name: 'The clock requires a password. Sign in' });
    await link.click();
    const form = page.locator('[data-sign-in]');
    await form.getByLabel('Password').fill(clock.password);
    await form.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForSelector('[data-link="live"]');
    await page.goto(`${clock.url}/glass`);
    await page.waitForFunction(() => document.querySelector('canvas')?.width === 1200);
  });

  test('a kiosk signs in with credentials in the address', async () => {
    clock.password = 'correct horse';
    context = await browser.newContext({ viewport: VIEWPORT });
    const page = await context.newPage();
    await page.goto(`${clock.url.replace('//', '//papertick:correct%20horse@')}/glass`);
    await page.waitForFunction(() => document.querySelector('canvas')?.width === 600);
    await page.keyboard.press('Space');
    await until('a step', () => steps().length === 1);
  });

  test('a browser without scripts gets one picture that a header reloads', async () => {
    context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const response = await page.goto(`${clock.url}/glass`);
    assert.equal(response.headers().refresh, '300');
    assert.equal(await page.locator('img').count(), 1);
    await shows(next(), 'width=800&height=480');
  });
});

describe('the section of the page', () => {
  let page;
  const section = () => page.locator('#care-screens');
  const button = (name) => section().getByRole('button', { name, exact: true });
  const sent = (method) => clock.log.filter(({ key }) => key.startsWith(`${method} /api/displays`));

  async function openSection() {
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    ({ page, faults } = await openPage(context, clock.url, '/care/screens'));
  }

  test('addresses have QR codes, and the picture can be saved', async () => {
    await openSection();
    const address = section().locator('[data-address="server"]');
    assert.equal(await address.locator('code').textContent(), clock.url);
    await address.getByRole('button', { name: 'QR code' }).click();
    await section().getByAltText(`QR code of ${clock.url}`).waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), button('Save the picture').click()]);
    assert.equal(file.suggestedFilename(), `${clock.settings.hostname}.png`);
  });

  test('a layout and a size are chosen by their pictures, and are in the addresses', async () => {
    await openSection();
    const addresses = () => section().locator('[data-address] code').allTextContents();
    await until('pictures', () =>
      ['figure', 'board', 'cells'].every((name) =>
        frames().some(({ search }) => search.includes(`width=800&height=480&depth=8&layout=${name}`)),
      ),
    );
    const plain = [`${clock.url}/glass`, `${clock.url}/api/frame.png?width=800&height=480`, clock.url];
    assert.deepEqual(await addresses(), plain);
    await section().getByRole('radio', { name: 'board' }).check();
    await section().locator('[data-chosen]').waitFor();
    assert.deepEqual(await addresses(), [`${plain[0]}?layout=board`, `${plain[1]}&layout=board`, clock.url]);
    assert.equal(await section().locator('[data-tiles]').count(), 0);
    await section().getByLabel('Size').selectOption('296 × 128, e-paper');
    await section().getByText('4 of 6 fit on this screen.').waitFor();
    // The pictures follow the clock.
    mine();
    await shows(next(), 'width=296&height=128&depth=8&layout=cells');
    await Promise.all([page.waitForEvent('download'), button('Save the picture').click()]);
    assert.equal(frames().at(-1).search, '?width=296&height=128&layout=board&depth=8');
  });

  test('the board is edited with a preview, and saved like other settings', async () => {
    await openSection();
    await section().getByRole('radio', { name: 'board' }).check();
    const rows = () => section().locator('[data-board] .name').allTextContents();
    const names = ['Ticker', 'Time', 'Block Height', 'Sats per dollar', 'Block Fee Rate', 'Halving countdown'];
    assert.deepEqual(await rows(), names);
    await button('Remove Time').click();
    await button('Remove Block Fee Rate').click();
    await section().locator('[data-grip="0"]').press('ArrowUp');
    await section().getByLabel('Currency of Ticker').selectOption('EUR');
    await section().getByLabel('Currency of Ticker, EUR').waitFor();
    // The currency that is on the board already is not offered again.
    await section().getByLabel('Screen to add').selectOption('Ticker');
    await button('Add').click();
    await section().getByLabel('Currency of Ticker', { exact: true }).waitFor();
    assert.deepEqual(
      await section().getByLabel('Currency of Ticker', { exact: true }).locator('option').allTextContents(),
      ['USD', 'JPY'],
    );
    await shows('0 20:EUR 10 4 20');
    const [grip, first] = await Promise.all(
      ['20', '0'].map((id) => section().locator(`[data-grip="${id}"]`).boundingBox()),
    );
    await page.mouse.move(grip.x + 9, grip.y + 9);
    await page.mouse.down();
    await page.mouse.move(first.x + 9, first.y + 9, { steps: 5 });
    await page.mouse.up();
    const board = ['20', '0', '20:EUR', '10', '4'];
    await shows(board.join(' '));
    // A refusal is shown at the board: of its picture, and of saving it, also from another view.
    const refusal = section().locator('[data-board]').getByText('A screen on the board is switched off. Remove it.');
    clock.refuse = 'boardScreens:screen_off';
    mine();
    await refusal.waitFor();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await refusal.waitFor();
    delete clock.refuse;
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    assert.deepEqual(clock.settings.boardScreens, board);
    for (const name of ['Ticker', 'Block Height', 'Ticker, EUR']) await button(`Remove ${name}`).click();
    assert.equal(await button('Remove Sats per dollar').isDisabled(), true);
  });

  test('a display is approved, changed and removed', async () => {
    clock.displays = [introduced('917F0B')];
    await openSection();
    const display = section().locator('[data-display="917F0B"]');
    await display.getByText('Waiting for approval').waitFor();
    assert.equal(
      await display.locator('[data-health]').textContent(),
      'Battery 94 %, 4.1 V · Signal -69 dBm · Last contact 12 s ago · Next contact in 1 min',
    );
    await display.locator('[data-picture="screen"]').waitFor();
    await display.getByRole('button', { name: 'Approve' }).click();
    await display.getByText('Approved', { exact: true }).waitFor();
    await display.getByRole('button', { name: 'Change' }).click();
    await display.getByLabel('Name').fill('Kitchen');
    await display.getByLabel('Width, px').fill('4000');
    await display.getByLabel('Layout').selectOption('board');
    await display.getByLabel('Colours').selectOption('dark');
    await display.getByLabel('Shows').selectOption('screens of its own in turn');
    await display.getByLabel('Block Height').check();
    await display.getByRole('button', { name: 'Save' }).click();
    await display.getByText('The clock refused: width must be a whole number from 200 to 3840').waitFor();
    await display.getByLabel('Width, px').fill('600');
    await display.getByRole('button', { name: 'Save' }).click();
    await display.getByRole('heading', { name: 'Kitchen' }).waitFor();
    assert.deepEqual(sent('PATCH').at(-1).body, {
      name: 'Kitchen',
      width: 600,
      layout: 'board',
      dark: true,
      content: 'rotation',
      screens: [0],
    });
    await display.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await display.waitFor({ state: 'detached' });
    assert.equal(sent('DELETE').length, 1);
  });

  test('a waiting display shows which display it replaces', async () => {
    const before = { ...introduced('917F0A'), state: 'approved', name: 'Kitchen' };
    clock.displays = [before, { ...introduced('917F0B'), replaces: '917F0A' }];
    await openSection();
    await section().getByText('Approving it replaces “Kitchen”.').waitFor();
    assert.equal(await section().locator('[data-replaces]').count(), 1);
    before.name = '';
    await section().getByText('Approving it replaces “917F0A”.').waitFor();
  });

  test('a form sends only changed values', async () => {
    const display = { ...introduced('917F0B'), state: 'approved', name: 'Kitchen' };
    clock.displays = [display];
    await openSection();
    const article = section().locator('[data-display="917F0B"]');
    await article.getByRole('button', { name: 'Change' }).click();
    Object.assign(display, { intervalMin: 30, name: 'Hall' });
    await section().getByRole('article', { name: 'Hall' }).waitFor();
    await article.getByLabel('Colours').selectOption('dark');
    await article.getByRole('button', { name: 'Save' }).click();
    await article.getByRole('button', { name: 'Change' }).waitFor();
    assert.deepEqual(sent('PATCH').at(-1).body, { dark: true });
  });

  test('a token is shown once', async () => {
    await openSection();
    await section().getByLabel('Name of a new display').fill('Kindle');
    await button('Add a display').click();
    await section().locator('[data-token]').getByText('kept-by-its-owner').waitFor();
    assert.deepEqual(sent('POST')[0].body, { name: 'Kindle' });
    await button('Done').click();
    await section().getByRole('heading', { name: 'Kindle' }).waitFor();
    assert.doesNotMatch(await page.innerText('body'), /kept-by-its-owner/);
  });

  test('displays are polled only while their list is open', async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    await page.clock.install();
    let reads = 0;
    page.on('request', (request) => (reads += Number(request.url().endsWith('/api/displays'))));
    await page.goto(`${clock.url}/care`);
    await page.waitForSelector('[data-link="live"]');
    await section().locator('[data-displays] summary').click();
    await until('a list', () => reads === 1);
    await page.clock.runFor(10_500);
    await until('another', () => reads === 2);
    await section().locator('[data-displays] summary').click();
    await page.clock.runFor(60_000);
    assert.equal(reads, 2);
  });
});
