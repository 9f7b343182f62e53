// The settings form: requests, messages and unsaved edits.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { MockClock } from '../mock/clock.mjs';
import { launch, openPage, until } from './browser.mjs';

const ROWS = JSON.parse(readFileSync(new URL('../../src/settings.gen.json', import.meta.url), 'utf8')).flatMap(
  ({ fields }) => fields,
);

let browser;
let clock;
let page;
let faults;

before(async () => (browser = await launch()));
after(() => browser.close());

beforeEach(async () => {
  clock = new MockClock();
  const url = await clock.listen();
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  ({ page, faults } = await openPage(context, url, '/settings'));
  await page.waitForSelector('[data-key="digitFontPx"]');
  await openAll();
});

afterEach(async () => {
  assert.deepEqual(faults, []);
  assert.doesNotMatch(await page.innerText('body'), /\[\[|undefined|NaN/);
  await page.context().close();
  await clock.close();
});

const patches = () => clock.log.filter(({ key }) => key === 'PATCH /api/settings');
const patch = () => until('a PATCH', () => patches().at(-1));
const setting = (key) => page.locator(`[data-key="${key}"]`);
/** Opens "More" of every section. */
const openAll = () => page.locator('[data-more]').evaluateAll((all) => all.forEach((one) => (one.open = true)));
const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
const saved = () => page.waitForSelector('.notice:has-text("Saved.")');
/** Sets the visibility of the page, as switching tabs does. */
const setVisibility = (state) =>
  page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

test('only changed values are sent, with If-Match', async () => {
  const tag = clock.settingsTag();
  await setting('fullRefreshMin').getByRole('spinbutton').fill('30');
  await setting('invertedColor').getByRole('switch').click();
  await setting('hideLeadZero').getByRole('switch').click();
  await setting('hideLeadZero').getByRole('switch').click();
  await page.waitForSelector('[data-savebar]:has-text("2 changes")');
  await save();
  const { body, headers } = await patch();
  assert.deepEqual(body, { fullRefreshMin: 30, invertedColor: true });
  assert.equal(headers['if-match'], tag);
  await saved();
  assert.equal(await page.locator('[data-savebar]').count(), 0);
});

test('settings that cannot be loaded show an error, and are loaded again on request', async () => {
  // Without a version of the settings in the status, the page does not reload them by itself.
  clock.statusOverrides = { settingsTag: undefined };
  await page.route('**/api/settings', (route) => route.fulfill({ status: 503, json: { error: 'busy' } }));
  for (const path of ['/care', '/settings']) {
    await page.goto(clock.url + path);
    await page.getByText('The clock refused: busy').waitFor();
  }
  await page.unroute('**/api/settings');
  await page.getByRole('button', { name: 'Try again' }).click();
  await setting('digitFontPx').waitFor();
});

test('every setting shows its help and whether it needs a restart, also to screen readers', async () => {
  const shown = await page.locator('[data-key]').evaluateAll((all) =>
    all.map((one) => ({
      key: one.dataset.key,
      visible: one.querySelector('.words').textContent,
      pill: one.querySelector('.pill') !== null,
      described: [...one.querySelectorAll('[aria-describedby]')]
        .flatMap((control) => control.getAttribute('aria-describedby').split(' '))
        .map((id) => document.getElementById(id)?.textContent ?? '')
        .join(' '),
    })),
  );
  assert.ok(shown.length > 40);
  for (const { key, visible, pill, described } of shown) {
    const { help = '', unit, reboot } = ROWS.find((row) => row.key === key);
    const words = unit === 'PWM duty' ? '' : help;
    assert.ok(visible.includes(words) && described.includes(words), key);
    assert.deepEqual([pill, described.includes('Takes effect after a restart.')], [reboot, reboot], key);
  }
});

test('a fault is connected to its control, and counted in the save bar', async () => {
  const isShown = async (key, control) => {
    await setting(key).getByRole('alert').waitFor();
    assert.equal(await control.getAttribute('aria-invalid'), 'true', key);
    assert.ok((await control.getAttribute('aria-describedby')).split(' ').includes(`set-${key}-fault`), key);
  };
  for (const [key, role, text] of [
    ['fullRefreshMin', 'spinbutton', '2000'],
    ['timePerScreen', 'spinbutton', '99'],
    ['nostrRelays', 'textbox', 'https://b'],
  ]) {
    const control = setting(key).getByRole(role);
    await control.fill(text);
    await isShown(key, control);
    assert.equal(await setting(key).getByText('Changed, not saved').count(), 1, key);
  }
  await page.waitForSelector('[data-savebar]:has-text("3 need your attention")');
  await setting('httpAuthEnabled').getByRole('switch').click();
  await isShown('httpAuthPass', setting('httpAuthPass').locator('input'));
  await page.waitForSelector('[data-savebar]:has-text("4 need your attention")');
  assert.equal(await setting('suffixPrice').getByText('Changed, not saved').count(), 0);
});

test('a hexadecimal key is shown as npub too, also each key of a list', async () => {
  Object.assign(clock.settings, { dataSource: 2, nostrZapNotify: true });
  clock.changed(clock.data());
  const keys = [
    [
      '3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d',
      'npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6',
    ],
    [
      '7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e',
      'npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg',
    ],
  ];
  const npubs = (key) => setting(key).locator('[data-npub]').allInnerTexts();
  for (const [key, some] of [
    ['nostrPubKey', keys.slice(0, 1)],
    ['nostrZapPubkeys', keys],
  ]) {
    await setting(key)
      .getByRole('textbox')
      .fill(some.map(([hex]) => hex).join('\n'));
    const expected = some.map(([, npub]) => npub);
    await until(`npubs of ${key}`, async () => JSON.stringify(await npubs(key)) === JSON.stringify(expected));
  }
});

test('time per screen is sent in minutes', async () => {
  await setting('timePerScreen').getByRole('spinbutton').fill('2.5');
  await save();
  assert.deepEqual((await patch()).body, { timePerScreen: 2.5 });
  assert.equal(clock.settings.timerSeconds, 150);
});

test('a list is written with one entry on each line', async () => {
  const lines = setting('nostrRelays').getByRole('textbox');
  await lines.fill('wss://a\nhttps://b\n');
  await setting('nostrRelays').locator('text=https://b: The address must start with wss:// / ws://.').waitFor();
  await lines.fill('wss://a\n\n wss://b');
  await save();
  assert.deepEqual((await patch()).body, { nostrRelays: ['wss://a', 'wss://b'] });
  await saved();
  assert.equal(await lines.inputValue(), 'wss://a\nwss://b');
});

test('a fault that the page finds is not sent', async () => {
  await setting('fullRefreshMin').getByRole('spinbutton').fill('2000');
  await setting('fullRefreshMin').locator('text=A whole number from 0 to 1,440.').waitFor();
  await save();
  assert.equal(await page.evaluate(() => document.activeElement.closest('[data-key]').dataset.key), 'fullRefreshMin');
  assert.equal(patches().length, 0);
});

test('a fault that the clock finds is shown at its field', async () => {
  clock.refuse = 'range:ledBrightness';
  await setting('ledBrightness').getByRole('slider').fill('10');
  await save();
  await setting('ledBrightness').locator('text=A whole number from 0 to 255.').waitFor();
  clock.refuse = 'explorerInstance:bad_length';
  await save();
  await setting('explorerInstance').locator('text=This is empty, too short or too long.').waitFor();
  assert.equal(await setting('explorerInstance').getByRole('textbox').getAttribute('aria-invalid'), 'true');
  clock.refuse = undefined;
  await save();
  await saved();
});

test('changes that cannot be sent are preserved, with a notice', async () => {
  await setting('labelFitPct').getByRole('slider').fill('80');
  await clock.goAway();
  await save();
  await page.waitForSelector('.notice:has-text("does not answer")');
  await page.waitForSelector('[data-savebar]:has-text("One change")');
  await clock.comeBack();
  await page.waitForSelector('[data-link="live"]', { timeout: 10_000 });
  await save();
  assert.deepEqual((await patch()).body, { labelFitPct: 80 });
});

test('screens are ordered by keyboard', async () => {
  await page.locator('[data-grip="3"]').focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('End');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.grip), '3');
  await save();
  const { screens } = (await patch()).body;
  assert.deepEqual(
    screens.map(({ id }) => id),
    [0, 4, 6, 10, 20, 30, 40, 3],
  );
  assert.deepEqual(
    screens.map(({ order }) => order),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
});

test('screens are ordered by dragging', async () => {
  await page.setViewportSize({ width: 1100, height: 1000 });
  const from = await page.locator('[data-grip="0"]').boundingBox();
  const to = await page.locator('[data-screen="6"]').boundingBox();
  await page.mouse.move(from.x + 10, from.y + 10);
  await page.mouse.down();
  await page.mouse.move(from.x + 10, from.y + 60, { steps: 4 });
  await page.mouse.move(from.x + 10, to.y + to.height - 4, { steps: 6 });
  await page.mouse.up();
  await save();
  assert.deepEqual(
    (await patch()).body.screens.map(({ id }) => id),
    [3, 4, 6, 0, 10, 20, 30, 40],
  );
});

test('hiding a screen sends only that screen', async () => {
  await page.locator('[data-screen="40"]').getByRole('switch').click();
  await save();
  assert.deepEqual((await patch()).body, { screens: [{ id: 40, enabled: false }] });
});

test('quiet hours are sent all together', async () => {
  await setting('dnd').getByRole('switch').click();
  await setting('dnd').getByLabel('From').fill('23:30');
  await setting('dnd').getByLabel('To', { exact: true }).fill('06:15');
  await save();
  assert.deepEqual((await patch()).body, {
    dnd: { dndTimeEnabled: true, startHour: 23, startMinute: 30, endHour: 6, endMinute: 15 },
  });
});

test('currencies', async () => {
  await setting('actCurrencies').getByLabel('JPY').uncheck();
  await setting('actCurrencies').getByLabel('CHF').check();
  await save();
  assert.deepEqual((await patch()).body, { actCurrencies: ['USD', 'EUR', 'CHF'] });
});

test('secrets can be written and never read', async () => {
  await setting('httpAuthEnabled').getByRole('switch').click();
  await setting('httpAuthPass').locator('text=Choose a password').waitFor();
  await save();
  assert.equal(patches().length, 0);
  const input = setting('httpAuthPass').locator('input');
  await input.fill('correct horse');
  await save();
  assert.deepEqual((await patch()).body, { httpAuthEnabled: true, httpAuthPass: 'correct horse' });
  await saved();
  assert.equal(await input.inputValue(), '');
  await setting('httpAuthPass').getByText('Set', { exact: false }).first().waitFor();
  await setting('httpAuthPass').getByRole('button', { name: 'Remove' }).click();
  await setting('httpAuthPass').locator('text=Choose a password').waitFor();
  await setting('httpAuthPass').getByRole('button', { name: 'Undo' }).click();
  await page.locator('[data-savebar]:has-text("not saved")').waitFor({ state: 'detached' });
});

test('transmit power and colours are sent in the units of the clock', async () => {
  await setting('txPower').getByRole('combobox').selectOption({ label: '19 dBm' });
  await setting('blockFlashColor').locator('input').fill('#0000ff');
  await save();
  assert.deepEqual((await patch()).body, { txPower: 76, blockFlashColor: 255 });
});

test('saving from another view leads to a fault in a list', async () => {
  await setting('nostrRelays').getByRole('textbox').fill('https://b');
  await page.getByRole('link', { name: 'Clock', exact: true }).click();
  await save();
  await page.waitForFunction(
    () => document.activeElement.matches('textarea') && document.activeElement.closest('[data-key="nostrRelays"]'),
  );
  assert.equal(patches().length, 0);
});

test('a restart is offered if a saved setting needs one', async () => {
  await setting('dataSource').getByRole('combobox').selectOption({ index: 3 });
  await setting('ceEndpoint').getByRole('textbox').fill('relay.lan:8080');
  await save();
  assert.deepEqual((await patch()).body, { dataSource: 3, ceEndpoint: 'relay.lan:8080' });
  await page.waitForSelector('[data-reboot]');
  await page.getByRole('button', { name: 'Restart now' }).click();
  await until('a restart', () => clock.log.some(({ key }) => key === 'POST /api/restart'));
  await page.waitForSelector('[data-reboot]', { state: 'detached' });
});

test('a postponed restart is offered again with the next change that needs one', async () => {
  await setting('dataSource').getByRole('combobox').selectOption({ index: 3 });
  await setting('ceEndpoint').getByRole('textbox').fill('one.lan:8080');
  await save();
  await page.waitForSelector('[data-reboot]');
  await page.getByRole('button', { name: 'Later' }).click();
  await page.waitForSelector('[data-reboot]', { state: 'detached' });
  await setting('labelFitPct').getByRole('slider').fill('80');
  await save();
  await saved();
  assert.equal(await page.locator('[data-reboot]').count(), 0);
  await setting('ceEndpoint').getByRole('textbox').fill('two.lan:8080');
  await save();
  await page.waitForSelector('[data-reboot]');
});

test('a button sets the time zone of the browser', async () => {
  clock.settings.tzString = 'Pacific/Auckland';
  await page.reload();
  const here = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  await setting('tzString')
    .getByRole('button', { name: `Use ${here}, as this browser` })
    .click();
  await save();
  assert.deepEqual((await patch()).body, { tzString: here });
  await setting('tzString').getByRole('button').waitFor({ state: 'detached' });
});

test('a change of another setting by another client is no conflict', async () => {
  await setting('labelFitPct').getByRole('slider').fill('80');
  clock.settings.digitFontPx = 200;
  await save();
  await saved();
  assert.deepEqual(
    patches().map(({ body }) => body),
    [{ labelFitPct: 80 }, { labelFitPct: 80 }],
  );
  assert.equal(clock.settings.digitFontPx, 200);
});

test('a change of the same setting by another client is shown as a conflict', async () => {
  await setting('labelFitPct').getByRole('slider').fill('80');
  clock.settings.labelFitPct = 60;
  await save();
  await page.waitForSelector('.notice:has-text("Label width")');
  await setting('labelFitPct').locator('text=Changed in another window or by another client').waitFor();
  await setting('labelFitPct').getByText('“60 %”').waitFor();
  assert.equal(clock.settings.labelFitPct, 60);
  await save();
  await saved();
  assert.equal(await page.locator('.notice:has-text("Label width")').count(), 0);
  assert.equal(clock.settings.labelFitPct, 80);
});

test('a conflict in lists and quiet hours shows the other value', async () => {
  await page.locator('[data-screen="40"]').getByRole('switch').click();
  await setting('dnd').getByRole('switch').click();
  clock.settings.screens.find(({ id }) => id === 40).order = 100;
  for (const screen of clock.settings.screens) screen.enabled = [0, 3].includes(screen.id);
  Object.assign(clock.settings.dnd, { dndTimeEnabled: true, startHour: 1, startMinute: 5 });
  clock.changed(clock.data());
  await setting('screens').getByText('“Block Height, Time”').waitFor();
  await setting('dnd').getByText('“1:05 – 7:00”').waitFor();
});

test('a visual change is previewed before it is saved', async () => {
  assert.equal(await page.locator('[data-preview]').count(), 0);
  await setting('invertedColor').getByRole('switch').click();
  await page.locator('[data-preview]').waitFor();
  await setting('digitFontPx').getByRole('slider').fill('120');
  const requests = () => clock.log.filter(({ key }) => key === 'POST /api/preview.png').map(({ body }) => body);
  await until('both changes', () => JSON.stringify(requests().at(-1)) === '{"invertedColor":true,"digitFontPx":120}');
  assert.equal(patches().length, 0);
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.locator('[data-preview]').waitFor({ state: 'detached' });
});

test('a preview is drawn again only if the panels change, and only on a visible page', async () => {
  const previews = () => clock.log.filter(({ key }) => key === 'POST /api/preview.png').length;
  const sendStatus = async () => {
    clock.lux += 1;
    clock.send('status', clock.status());
    await page.waitForTimeout(250);
  };
  await setting('invertedColor').getByRole('switch').click();
  await page.locator('[data-preview]').waitFor();
  assert.equal(previews(), 1);
  for (let frame = 0; frame < 4; frame += 1) await sendStatus();
  assert.equal(previews(), 1);
  await setVisibility('hidden');
  const before = clock.data();
  clock.height += 1;
  clock.changed(before);
  await sendStatus();
  assert.equal(previews(), 1);
  await setVisibility('visible');
  await until('another preview', () => previews() === 2);
});

test('a hidden page fetches nothing, and is updated when it is visible again', async () => {
  const version = (wanted) =>
    page.waitForFunction((wanted) => document.querySelectorAll('canvas')[6]?.dataset.version === wanted, wanted);
  await version('1');
  await setVisibility('hidden');
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  const before = clock.data();
  clock.height += 1;
  clock.settings.digitFontPx = 99;
  clock.changed(before);
  // This later status is shown, so the earlier one has arrived too.
  clock.statusOverrides = { restartFor: ['ledTestOnPower'] };
  clock.changed(clock.data());
  await page.waitForSelector('[data-reboot]');
  assert.deepEqual(requests, []);
  await setVisibility('visible');
  await version('2');
  await setting('digitFontPx').locator('output:has-text("99 px")').waitFor();
});

test('the layout does not move while a change is drawn', async () => {
  await page.evaluate(() => {
    globalThis.heights = new Set();
    const look = document.querySelector('[data-look]');
    new ResizeObserver(() => globalThis.heights.add(look.offsetHeight)).observe(look);
  });
  await setting('invertedColor').getByRole('switch').click();
  await page.getByText('Preview of your unsaved changes.').waitFor();
  await page.waitForFunction(() => document.querySelector('[data-preview]').naturalWidth > 0);
  await setting('invertedColor').getByRole('switch').click();
  await page.locator('[data-preview]').waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => globalThis.heights.size), 1);
});

test('the preview stays visible, also during a search, and shows the chosen screen', async () => {
  const isVisible = () => page.locator('[data-look]').evaluate((look) => look.getBoundingClientRect().top >= 0);
  await setting('tzString').scrollIntoViewIfNeeded();
  assert.equal(await isVisible(), true);
  await page.getByRole('searchbox').fill('font');
  await page.locator('[data-which]').selectOption({ label: 'Block Fee Rate' });
  await page.locator('[data-preview]').waitFor();
  await setting('fontName').waitFor();
  assert.equal(await isVisible(), true);
  const drawn = clock.log.filter(({ key }) => key === 'POST /api/preview.png').at(-1);
  assert.deepEqual([drawn.search, drawn.body], ['?s=6', {}]);
  await page.locator('[data-which]').selectOption('');
  await page.locator('[data-preview]').waitFor({ state: 'detached' });
});

test('the preview describes its content: a screen, visual changes, both, or the current screen', async () => {
  const alt = () => page.locator('[data-preview]').getAttribute('alt');
  const previews = () => clock.log.filter(({ key }) => key === 'POST /api/preview.png').length;
  const caption = page.getByText('Preview of your unsaved changes.');
  await page.locator('[data-which]').selectOption({ label: 'Block Fee Rate' });
  await page.locator('[data-preview]').waitFor();
  assert.equal(await alt(), 'Block Fee Rate');
  await setting('mqttEnabled').getByRole('switch').click();
  await page.waitForSelector('[data-savebar]:has-text("One change")');
  assert.deepEqual([await caption.count(), await alt()], [0, 'Block Fee Rate']);
  await setting('invertedColor').getByRole('switch').click();
  await caption.waitFor();
  assert.equal(await alt(), 'Block Fee Rate: The panels with the unsaved changes');

  clock.undrawable = true;
  const before = previews();
  await page.locator('[data-which]').selectOption({ label: 'Time' });
  await until('a request', () => previews() > before);
  await page.getByText('The clock cannot draw these changes. The picture shows its current screen.').waitFor();
  assert.equal(await page.locator('[data-preview]').count(), 0);
  clock.undrawable = false;
  await setting('invertedColor').getByRole('switch').click();
  await page.locator('[data-preview]').waitFor();
  assert.equal(await page.getByText('The clock cannot draw these changes').count(), 0);

  // A removed screen is deselected.
  clock.settings.screens = clock.settings.screens.filter(({ name }) => name !== 'Time');
  clock.changed(clock.data());
  await page.locator('[data-preview]').waitFor({ state: 'detached' });
  assert.equal(await page.locator('[data-which]').inputValue(), '');
});

test('a value is chosen by pictures, which are not redrawn when other settings change', async () => {
  await page.locator('[data-looks="digitFontPx"] summary').click();
  const pictures = page.locator('[data-looks="digitFontPx"] img');
  await pictures.first().waitFor();
  // Another client changes a setting while the pictures are being drawn.
  clock.settings.ledBrightness = 7;
  clock.changed(clock.data());
  await until('all pictures', async () => (await pictures.count()) === 8);
  const drawn = clock.log.filter(({ key }) => key === 'POST /api/preview.png').map(({ body }) => body.digitFontPx);
  assert.deepEqual(drawn, [80, 100, 120, 140, 160, 180, 200, 220]);
  await page.locator('[data-looks="digitFontPx"] label').nth(2).click();
  await setting('digitFontPx').locator('output:has-text("120 px")').waitFor();
});

test('fonts and the satoshi symbol are chosen by pictures, the symbol on a screen that has one', async () => {
  const drawn = async (key, count) => {
    const before = clock.log.length;
    await page.locator(`[data-looks="${key}"] summary`).click();
    await until('all pictures', async () => (await page.locator(`[data-looks="${key}"] img`).count()) === count);
    return clock.log.slice(before).filter(({ key }) => key === 'POST /api/preview.png');
  };
  const fonts = clock.settingsDocument().availableFonts;
  assert.ok(fonts.length > 1);
  const inFonts = await drawn('fontName', fonts.length);
  assert.deepEqual(
    inFonts.map(({ search, body }) => [search, body.fontName]),
    fonts.map(({ id }) => ['?s=0', id]),
  );
  clock.settings.priceSymMode = 1;
  clock.changed(clock.data());
  await page.locator('[data-looks="satsVariant"]').waitFor();
  const count = await page.locator('[data-looks="satsVariant"] input').count();
  const signs = await drawn('satsVariant', count);
  assert.deepEqual(new Set(signs.map(({ search, body }) => `${search} ${body.priceSymMode}`)), new Set(['?s=10 1']));
  assert.equal(new Set(signs.map(({ body }) => body.satsVariant)).size, count);
});

test('label width and inversion are chosen by pictures', async () => {
  for (const [key, values] of [
    ['labelFitPct', [25, 40, 55, 70, 85, 100]],
    ['invertedColor', [false, true]],
  ]) {
    await page.locator(`[data-looks="${key}"] summary`).click();
    await until(
      'all pictures',
      async () => (await page.locator(`[data-looks="${key}"] img`).count()) === values.length,
    );
    const drawn = clock.log.filter(({ key }) => key === 'POST /api/preview.png');
    assert.deepEqual(
      drawn.slice(-values.length).map(({ body }) => body[key]),
      values,
    );
  }
  await page.locator('[data-looks="invertedColor"] label').nth(1).click();
  assert.equal(await setting('invertedColor').getByRole('switch').isChecked(), true);
  await page.locator('[data-looks="labelFitPct"]').getByText('40 %').click();
  await setting('labelFitPct').locator('output:has-text("40 %")').waitFor();
});

test('changes by other clients are shown at once', async () => {
  await setting('suffixPrice').getByRole('switch').click();
  Object.assign(clock.settings, { digitFontPx: 99, suffixPrice: false, labelFitPct: 77 });
  clock.changed(clock.data());
  await setting('digitFontPx').locator('output:has-text("99 px")').waitFor();
  assert.equal(await setting('suffixPrice').getByRole('switch').isChecked(), true);
  await setting('labelFitPct').getByRole('slider').fill('50');
  clock.settings.labelFitPct = 60;
  clock.changed(clock.data());
  await setting('labelFitPct').getByRole('button', { name: 'Use the other value' }).click();
  assert.equal(await setting('labelFitPct').getByRole('slider').inputValue(), '60');
});

test('a reverted value needs no restart', async () => {
  await setting('ledTestOnPower').getByRole('switch').click();
  await save();
  await page.waitForSelector('[data-reboot]:has-text("Rainbow at start")');
  await setting('ledTestOnPower').getByRole('switch').click();
  await save();
  await page.waitForSelector('[data-reboot]', { state: 'detached' });
});

test('an inverted switch is on while the LEDs are enabled', async () => {
  assert.equal(await setting('disableLeds').getByRole('switch', { name: 'LEDs' }).isChecked(), true);
  await setting('disableLeds').getByRole('switch').click();
  await save();
  assert.deepEqual((await patch()).body, { disableLeds: true });
});

test('probable mistakes get a warning before they are saved', async () => {
  for (const control of await setting('screens').getByRole('switch').all()) await control.click();
  await setting('screens').locator('text=No screen is left in the rotation').waitFor();
  await setting('httpAuthEnabled').getByRole('switch').click();
  const password = setting('httpAuthPass').locator('input');
  for (const [text, word] of [
    ['papertick', 'easy to guess'],
    ['12345678901234', 'Only digits'],
    ['horse', 'Weak'],
  ]) {
    await password.fill(text);
    await setting('httpAuthPass').locator(`[data-advice]:has-text("${word}")`).waitFor();
  }
  await password.fill('correct horse battery');
  await setting('httpAuthPass').locator('[data-advice]').waitFor({ state: 'detached' });
});

test('a proxy needs a kind', async () => {
  await setting('proxyEnabled').getByRole('switch').click();
  await setting('proxyHost').getByRole('textbox').fill('localhost');
  await save();
  await setting('proxyType').locator('text=Choose which kind of proxy it is').waitFor();
  assert.equal(patches().length, 0);
});

test('settings are found by synonyms', async () => {
  for (const [words, key] of [
    ['timezone', 'tzString'],
    ['login', 'httpAuthEnabled'],
    ['tor', 'proxyEnabled'],
  ]) {
    await page.getByRole('searchbox').fill(words);
    await setting(key).waitFor();
  }
});

test('Wi-Fi settings are hidden if the clock does not manage the radio', async () => {
  clock.settings.hasRadio = false;
  clock.changed(clock.data());
  await setting('wpTimeout').waitFor({ state: 'detached' });
  await page.getByRole('searchbox').fill('wifi');
  await page.waitForSelector('nav:has-text("This clock")');
  assert.equal(await page.locator('[data-key]').count(), 0);
  await page.getByRole('searchbox').fill('restart');
  await page.waitForSelector('nav:has-text("Restart and logos")');
  assert.equal(await setting('wpTimeout').count(), 0);
});

test('the example relay is not used as the relay of the owner', async () => {
  await setting('dataSource').getByRole('combobox').selectOption({ index: 3 });
  assert.equal(await setting('ceEndpoint').getByRole('textbox').inputValue(), '');
  await save();
  await setting('ceEndpoint').locator('text=A relay of your own needs a host.').waitFor();
  assert.equal(patches().length, 0);
});

test('the host of a relay in use is shown, even if it is the default', async () => {
  const delivered = clock.settings.ceEndpoint;
  const host = setting('ceEndpoint').getByRole('textbox');
  clock.settings.dataSource = 3;
  clock.changed(clock.data());
  await until('its name', async () => (await host.inputValue()) === delivered);
  clock.settings.dataSource = 1;
  clock.changed(clock.data());
  await until('no name', async () => (await host.inputValue()) === '');
  // Text stays visible while it is typed, even if it equals the example.
  await host.pressSequentially(delivered);
  assert.equal(await host.inputValue(), delivered);
  await host.press('Backspace');
  assert.equal(await host.inputValue(), delivered.slice(0, -1));
});

test('the save bar is as wide as the form', async () => {
  await setting('suffixPrice').getByRole('switch').click();
  for (const width of [390, 768, 1000, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    const sides = (selector) =>
      page.locator(selector).evaluate((element) => {
        const { left, right } = element.getBoundingClientRect();
        return [left, right].map(Math.round);
      });
    assert.deepEqual(await sides('[data-savebar]'), await sides('.sections'), String(width));
  }
});

test('the search finds settings, also settings without effect', async () => {
  await page.getByRole('searchbox').fill('socks');
  await setting('proxyType').locator('text=Has no effect with your other settings.').waitFor();
  assert.equal(await setting('fontName').count(), 0);
  await page.getByRole('searchbox').fill('no such thing');
  await page.getByRole('button', { name: 'Show all' }).click();
  await setting('fontName').waitFor();
});

test('a link to a section works repeatedly, and ends a search', async () => {
  const search = page.getByRole('searchbox');
  const sections = page.getByRole('navigation', { name: 'Sections' });
  await search.fill('hostnamePrefix');
  for (let time = 0; time < 2; time += 1) {
    await sections.getByRole('link', { name: 'Network', exact: true }).click();
    await page.waitForFunction(() => {
      const { top } = document.getElementById('section-network').getBoundingClientRect();
      return scrollY > 0 && top >= 0 && top < innerHeight && document.activeElement.id === 'title-network';
    });
    assert.equal(await search.inputValue(), '');
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  }
});

const top = (selector) => page.locator(selector).evaluate((one) => Math.round(one.getBoundingClientRect().top));

test('Back and a reload restore the scroll position', async () => {
  const before = 1500;
  const isThere = (what) => until(what, () => page.evaluate((y) => Math.abs(scrollY - y) < 2, before));
  const settled = () => page.waitForTimeout(300);
  await page.evaluate((y) => scrollTo(0, y), before);
  await settled();
  await page.locator('[data-section="diagnostics"]').click();
  await until('the section', () => page.evaluate((y) => scrollY > y + 500, before));
  await settled();
  await page.goBack();
  await isThere('Back within the settings');
  // Clicked by script, because the link is at the top of the page and a mouse click would scroll to it.
  await page.getByRole('link', { name: 'Care', exact: true }).evaluate((link) => link.click());
  await page.waitForSelector('#care-file');
  await until('the beginning', () => page.evaluate(() => scrollY === 0));
  await page.goBack();
  await isThere('Back from another view');
  await settled();
  await page.reload();
  await isThere('a reload');
});

test('the list of sections marks the current one', async () => {
  const current = () =>
    page.locator('[data-section][aria-current]').evaluateAll((all) => all.map((one) => one.dataset.section).join());
  await until('the first', async () => (await current()) === 'rotation');
  for (const id of ['data', 'wallet']) {
    await page.evaluate(
      (id) => scrollTo(0, scrollY + document.getElementById(`section-${id}`).getBoundingClientRect().top - 100),
      id,
    );
    await until(id, async () => (await current()) === id);
  }
  await page.locator('[data-section="network"]').click();
  await until('the requested section', async () => (await current()) === 'network');
  await page.waitForTimeout(1200);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await until('the last', async () => (await current()) === 'diagnostics');
});

test('rare settings are behind "More", and a fault in one of them opens it', async () => {
  await page.reload();
  const rare = setting('labelFitPct');
  await setting('fontName').waitFor();
  assert.equal(await rare.isVisible(), false);
  await page.getByRole('searchbox').fill('label width');
  await rare.waitFor();
  await page.getByRole('searchbox').fill('');
  await rare.waitFor({ state: 'hidden' });
  // A click on a list that moves can miss.
  await until('the rare settings', async () => {
    if (await setting('priceBand').isVisible()) return true;
    await page.locator('#section-data summary').click();
    return false;
  });
  await setting('priceBand').getByRole('spinbutton').fill('0');
  // The changed row grows; a click on a list that moves can miss.
  await setting('priceBand').getByRole('button', { name: 'Save changes' }).waitFor();
  await page.locator('#section-data summary').focus();
  await page.keyboard.press('Enter');
  await setting('priceBand').waitFor({ state: 'hidden' });
  await save();
  await until('the fault', () =>
    setting('priceBand')
      .getByRole('spinbutton')
      .evaluate((one) => document.activeElement === one),
  );
  await page.getByRole('button', { name: 'Discard' }).click();
});

test('a change is saved from its row with two keys, and the focus stays there', async () => {
  const field = setting('fullRefreshMin').getByRole('spinbutton');
  await field.fill('30');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await saved();
  assert.ok(await field.evaluate((input) => document.activeElement === input));
  const row = page.locator('[data-screen="3"]');
  await row.getByRole('button').focus();
  for (const key of ['ArrowDown', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
  await saved();
  assert.ok(await row.getByRole('switch').evaluate((input) => document.activeElement === input));
});

test('an edit made while others are saved stays', async () => {
  let release;
  const held = new Promise((done) => (release = done));
  await page.route('**/api/settings', async (route) => {
    if (route.request().method() === 'PATCH') await held;
    await route.continue();
  });
  await setting('fullRefreshMin').getByRole('spinbutton').fill('30');
  await save();
  await setting('labelFitPct').getByRole('slider').fill('80');
  release();
  await saved();
  await page.waitForSelector('[data-savebar]:has-text("One change")');
});

test('Ctrl+S saves the changes', async () => {
  await setting('invertedColor').getByRole('switch').click();
  await page.keyboard.press('Control+s');
  await saved();
  assert.deepEqual((await patch()).body, { invertedColor: true });
  await page.keyboard.press('Control+s');
  assert.equal(patches().length, 1);
});

test('pools have display names and labels for their kind of user', async () => {
  Object.assign(clock.settings, { miningPoolStats: true, miningPoolName: 'ocean' });
  clock.changed(clock.data());
  const choice = setting('miningPoolName').getByRole('combobox');
  for (const [pool, user] of [
    ['Foundry USA Pool', 'API key'],
    ['Braiins Pool', 'Access token'],
    ['OCEAN', 'Bitcoin address'],
  ]) {
    await choice.selectOption({ label: pool });
    await setting('miningPoolUser').getByText(user, { exact: true }).waitFor();
  }
});

test('a connection shows its state, its error and its next attempt, and can be restarted', async () => {
  Object.assign(clock.settings, {
    mqttEnabled: true,
    proxyEnabled: true,
    proxyType: 4,
    proxyHost: 'proxy',
    nodeKind: 1,
  });
  const down = { up: false, ageSec: 90, lastError: 'connection refused', nextTrySec: 40 };
  clock.statusOverrides = {
    sources: { pool: down, node: { up: true, ageSec: 5 } },
    mqtt: down,
    proxy: { up: false, lastError: 'connecting to the proxy proxy:1080: no address found' },
  };
  Object.assign(clock.settings, { miningPoolStats: true });
  clock.changed(clock.data());
  const connection = (of) => page.locator(`[data-connection="${of}"]`);
  for (const [of, words] of [
    ['miningPoolStats', ['Not connected', 'silent for', 'Connection refused.', 'Next try in']],
    ['mqttEnabled', ['Not connected', 'Connection refused.', 'Next try in']],
    ['proxyEnabled', ['Not connected', 'no address found.', 'Next try in']],
    ['nodeKind', ['Connected', 's ago']],
  ])
    for (const word of words) await connection(of).getByText(word).waitFor();
  assert.equal(await connection('nodeKind').getByRole('button').count(), 0);
  for (const [of, body] of [
    ['miningPoolStats', { source: 'pool' }],
    ['mqttEnabled', { source: 'mqtt' }],
    ['proxyEnabled', {}],
  ]) {
    clock.log = [];
    await connection(of).getByRole('button', { name: 'Try now' }).click();
    const sent = await until('a try', () => clock.log.find(({ key }) => key === 'POST /api/restart_datasources'));
    assert.deepEqual(sent.body ?? {}, body);
  }
});

test('a connected wallet offers its screen for the rotation', async () => {
  clock.settings.nwcEnabled = true;
  clock.settings.screens.push({ id: 90, name: 'Wallet Balance', enabled: false, order: clock.settings.screens.length });
  clock.statusOverrides = { sources: { wallet: { up: true, ageSec: 1 } } };
  clock.changed(clock.data());
  const offer = page.locator('[data-connection="nwcEnabled"]').getByRole('button', { name: 'Add its screen' });
  await offer.click();
  assert.deepEqual((await patch()).body, { screens: [{ id: 90, enabled: true }] });
  await offer.waitFor({ state: 'detached' });
});

test('a notice covers no control', async () => {
  for (const [width, path] of [
    [1280, '/settings'],
    [360, '/settings'],
    [360, '/care'],
  ]) {
    await page.setViewportSize({ width, height: 740 });
    await page.goto(clock.url + path);
    await page.waitForSelector('#care-file, [data-key="digitFontPx"]');
    await page.evaluate(() => scrollTo(0, 400));
    if (path === '/settings') {
      await setting('invertedColor').getByRole('switch').click();
      await page.keyboard.press('Control+s');
    } else await page.getByRole('button', { name: 'Clear the logos of pools' }).click();
    await page.waitForSelector('.notice');
    const covered = await page.evaluate(() => {
      const notice = document.querySelector('.notice').getBoundingClientRect();
      return [...document.querySelectorAll('main button, main a, main input, main select')]
        .filter((control) => {
          const { left, right, top, bottom } = control.getBoundingClientRect();
          return left < notice.right && right > notice.left && top < notice.bottom && bottom > notice.top;
        })
        .map((control) => control.outerHTML.slice(0, 80));
    });
    assert.deepEqual(covered, [], `${width} ${path}`);
  }
});

test('an error without a setting is shown until it is dismissed, and "Saved." disappears by itself', async () => {
  clock.refuse = 'bad body';
  await setting('labelFitPct').getByRole('slider').fill('80');
  await save();
  const refusal = page.locator('.notice.bad:has-text("The clock refused: bad body")');
  await refusal.waitFor();
  await page.waitForSelector('[data-savebar]:has-text("One change")');
  await refusal.getByRole('button', { name: 'Dismiss' }).click();
  await refusal.waitFor({ state: 'detached' });
  clock.refuse = undefined;
  await save();
  await saved();
  await page.waitForSelector('.notice', { state: 'detached', timeout: 20_000 });
});

test('unsaved changes are preserved between views, and leaving the page needs a confirmation', async () => {
  await setting('suffixPrice').getByRole('switch').click();
  await page.getByRole('link', { name: 'Clock', exact: true }).click();
  await page.waitForSelector('[data-savebar]:has-text("One change")');
  const opened = new Promise((done) =>
    page.once('dialog', async (dialog) => done([dialog.type(), await dialog.dismiss()])),
  );
  void page.close({ runBeforeUnload: true });
  assert.equal((await opened)[0], 'beforeunload');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.waitForSelector('[data-savebar]', { state: 'detached' });
});
