// The care view: settings as a file, updates, the log, the language of the page, a reset.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { MockClock } from '../mock/clock.mjs';
import { recorded } from '../mock/recorded.mjs';
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
  ({ page, faults } = await openPage(context, url, '/care'));
  await page.waitForSelector('#care-file');
});

afterEach(async () => {
  assert.deepEqual(faults, []);
  assert.doesNotMatch(await page.innerText('body'), /\[\[|undefined|NaN/);
  await page.context().close();
  await clock.close();
});

const button = (name) => page.getByRole('button', { name, exact: true });
const bodies = (key) => clock.log.filter((entry) => entry.key === key).map(({ body }) => body);

const IMPORT = '**/api/settings/import';
/** Opens a settings file. */
const openFile = () =>
  page.locator('#care-file input[type=file]').setInputFiles({
    name: 'a.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(recorded.care.exported)),
  });

/** Runs an action that downloads a file; returns the name and text of the file. */
async function downloaded(act) {
  const [file] = await Promise.all([page.waitForEvent('download'), act()]);
  let text = '';
  for await (const piece of await file.createReadStream()) text += piece;
  return [file.suggestedFilename(), text];
}

/** Sets a password of the clock and signs in. */
async function signIn() {
  clock.password = 'correct horse';
  clock.settings.httpAuthEnabled = true;
  clock.booted.httpAuthEnabled = true;
  await page.reload();
  const form = page.locator('[data-sign-in]');
  await form.getByLabel('Password').fill(clock.password);
  await form.getByRole('button', { name: 'Sign in' }).click();
}

test('settings are exported as a file', async () => {
  const [name, text] = await downloaded(() => button('Save without secrets').click());
  assert.equal(name, `${clock.settings.hostname}.json`);
  assert.deepEqual(JSON.parse(text), recorded.care.exported);
});

test('an import is previewed, and settings can be excluded', async () => {
  await openFile();
  await page.waitForSelector('[data-change="ledBrightness"]');
  assert.match(await page.textContent('[data-change="ledBrightness"]'), /LED brightness 128 → 64/);
  assert.match(await page.textContent('[data-change="invertedColor"]'), /off → on/);
  for (const [name, words] of [
    ['disableLeds', 'LEDs on → off'],
    ['dataSource', 'Source Public relay → Custom relay'],
    ['blockFlashColor', 'Colour of a new block #e04300 → #0000ff'],
    ['timerSeconds', 'Time per screen 30 min → 10 min'],
    ['screensHidden', 'Not in the rotation Wallet Balance → Block Height, Time'],
    ['dndStartHour', 'Quiet hours every day 22:00 – 7:00 (off) → 1:00 – 7:00 (off)'],
    ['priceWitnesses', 'Price witnesses Coinbase, Bitstamp → Gemini'],
    ['proxyPass', 'Password → another secret'],
    ['flMaxBrightness', 'Full brightness 50 % → 24 %'],
  ])
    assert.equal((await page.textContent(`[data-change="${name}"]`)).trim().replace(/\s+/g, ' '), words);
  await page.getByText('Unknown settings: moonPhase').waitFor();
  assert.equal(clock.settings.ledBrightness, 128);
  await page.locator('[data-change="invertedColor"] input').uncheck();
  await button('Import').click();
  await page.getByText('The settings were imported.').waitFor();
  const { except, dryRun } = bodies('POST /api/settings/import').at(-1);
  assert.deepEqual([except, dryRun], [['invertedColor'], false]);
  assert.deepEqual([clock.settings.ledBrightness, clock.settings.invertedColor], [64, false]);
});

test('an import does not overwrite a change by another client', async () => {
  const tag = clock.settingsTag();
  let matched;
  await page.route(IMPORT, (route) => {
    if (route.request().postDataJSON().dryRun) return route.continue();
    matched = route.request().headers()['if-match'];
    return route.fulfill({ status: 412, json: { error: 'precondition failed' } });
  });
  await openFile();
  await page.waitForSelector('[data-change="ledBrightness"]');
  await button('Import').click();
  const conflict = page.getByText('The settings were changed elsewhere meanwhile. Check the list again.');
  await conflict.waitFor();
  assert.equal(matched, tag);
  assert.deepEqual(
    bodies('POST /api/settings/import').map(({ dryRun }) => dryRun),
    [true, true],
  );
  await page.unroute(IMPORT);
  await button('Import').click();
  await page.getByText('The settings were imported.').waitFor();
  assert.equal(await conflict.count(), 0);
});

test('a rejected file, or one with all settings excluded, is not imported', async () => {
  await openFile();
  await page.waitForSelector('[data-change]');
  for (const box of await page.locator('[data-change] input').all()) await box.uncheck();
  assert.equal(await button('Import').isDisabled(), true);
  const imported = { ...recorded.care.imported, refused: [{ error: 'range:digitFontPx' }] };
  await page.route(IMPORT, (route) => route.fulfill({ json: imported }), { times: 1 });
  await openFile();
  await page.getByText('Digit height: A whole number from 80 to 220.').waitFor();
  assert.equal(await button('Import').isDisabled(), true);
  await button('Cancel').click();
  await page.locator('[data-import]').waitFor({ state: 'detached' });
  for (const [error, words] of [
    ['file:bad_type', 'This is not a settings file.'],
    ['file:unknown', 'This file comes from a newer version.'],
  ]) {
    await page.route(IMPORT, (route) => route.fulfill({ status: 400, json: { error } }), { times: 1 });
    await openFile();
    await page.locator('#care-file [role=alert]').getByText(words).waitFor();
  }
});

test('an invalid settings file is rejected without a request', async () => {
  const file = { name: 'a.json', mimeType: 'application/json', buffer: Buffer.from('not json') };
  await page.locator('#care-file input[type=file]').setInputFiles(file);
  await page.getByText('This is not a settings file.').waitFor();
  assert.deepEqual(bodies('POST /api/settings/import'), []);
});

test('an update is uploaded from a file, and a rejection is explained', async () => {
  const image = (text) => ({ name: 'clock.img', mimeType: 'application/octet-stream', buffer: Buffer.from(text) });
  await page.locator('[data-upload="firmware"]').setInputFiles(image('bad'));
  await page.waitForSelector('[data-result]:has-text("this is no image")');
  await page.locator('[data-upload="firmware"]').setInputFiles(image('good image'));
  await page.waitForSelector('[data-starting]:has-text("Updating…")');
  const uploads = () => clock.log.filter(({ key }) => key === 'POST /upload/firmware');
  assert.deepEqual(
    uploads().map(({ search }) => search),
    ['', ''],
  );
  await page.getByLabel('Also an older version').check();
  await page.locator('[data-upload="firmware"]').setInputFiles(image('good old image'));
  await until('a third one', () => uploads().length === 3);
  assert.equal(uploads()[2].search, '?downgrade=true');
  await page.locator('[data-upload="webui"]').setInputFiles(image('good page'));
  await until('a page', () => clock.log.some(({ key }) => key === 'POST /upload/webui'));
});

test('every tab shows a running update, and then the new version', async () => {
  const other = (await openPage(page.context(), clock.url)).page;
  const banners = [];
  await other.exposeFunction('onBanner', (text) => banners.push(text));
  await other.evaluate(() =>
    new MutationObserver(() => {
      const banner = document.querySelector('[data-banner]');
      if (banner) window.onBanner(`${banner.getAttribute('role')} ${banner.textContent}`);
    }).observe(document.body, { childList: true, subtree: true }),
  );
  clock.statusOverrides = { isOTAUpdating: true };
  clock.changed(clock.data());
  await other.waitForSelector('[data-rotation]:has-text("An update is being installed")');
  await clock.goAway({ closing: true });
  clock.statusOverrides = {};
  clock.firmware = { running: 'a', version: '4.1.0', trial: true, lastFailure: null, signed: true, keys: 1 };
  for (const tab of [page, other]) await tab.waitForSelector('[data-banner]:has-text("Updating…")');
  await clock.comeBack();
  for (const tab of [page, other]) await tab.waitForSelector('[data-banner]', { state: 'detached', timeout: 10_000 });
  assert.ok(banners.length > 0 && banners.every((text) => text.startsWith('status ') && text.includes('Updating…')));
  await page.waitForSelector('[data-firmware]:has-text("This clock runs 4.1.0. This version is on trial")');
  await page.waitForSelector('[data-starting]', { state: 'detached' });
  clock.firmware.trial = false;
  clock.settings.ledBrightness = 77;
  clock.changed(clock.data());
  await page.waitForSelector('[data-result]:has-text("Updated, and it works.")');
  delete clock.firmware;
  await other.close();
});

test('help links to the handbook, shows the version, and creates a report without secrets', async () => {
  clock.lines = [{ time: '2026-01-02T03:04:05.000Z', level: 'WARN', text: 'client 192.0.2.99 sent password hunter2' }];
  const help = page.locator('#care-help');
  await help.locator('[data-version]:has-text("papertick 4.0.0 (abc1234")').waitFor();
  assert.deepEqual(await help.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))), [
    'handbook/',
    'docs',
  ]);
  await help.getByRole('button', { name: 'Report a problem' }).click();
  const report = await help.locator('[data-report]').inputValue();
  assert.match(report, /^papertick 4\.0\.0-abc1234, built 2026-01-01\nBoard: Rev B/);
  assert.match(report, /- relay: up/);
  assert.match(report, /WARN client \[hidden\] sent password \[hidden\]/);
  for (const secret of ['192.0.2', 'hunter2', clock.settings.hostname, clock.settings.ip])
    assert.ok(!report.includes(secret), secret);
  await help.getByRole('button', { name: 'Copy' }).click();
  delete clock.lines;
});

test('a clock without a trusted key explains how to add one, and offers no update', async () => {
  clock.firmware = { ...recorded.care.firmware, signed: true, keys: 0 };
  await page.reload();
  await page.waitForSelector('[data-no-key]:has-text("update-keys")');
  assert.equal(await page.locator('[data-upload]').count(), 0);
  clock.firmware = { ...recorded.care.firmware, signed: false, keys: 0 };
  await page.reload();
  await page.waitForSelector('[data-upload]');
});

test('an upload shows its progress and its result', async () => {
  const image = { name: 'a.img', mimeType: 'application/octet-stream', buffer: Buffer.from('good page') };
  const upload = page.locator('[data-upload="webui"]');
  for (const [act, words] of [
    [(route) => route.fulfill({ status: 401, json: { error: 'unauthorized' } }), 'password is wrong or missing.'],
    [(route) => route.abort(), 'The upload was interrupted.'],
  ]) {
    await page.route('**/upload/webui', act, { times: 1 });
    await upload.setInputFiles(image);
    await page.waitForSelector(`[data-result]:has-text("${words}")`);
  }
  let pending;
  await page.route('**/upload/webui', (route) => (pending = route), { times: 1 });
  await upload.setInputFiles(image);
  await page.getByRole('progressbar', { name: 'Upload' }).waitFor();
  for (const file of await page.locator('[data-upload]').all()) assert.equal(await file.isDisabled(), true);
  await (await until('an upload', () => pending)).continue();
  await page.waitForSelector('[data-result]:has-text("Installed; reload the page.")');
  assert.equal(await page.locator('progress').count(), 0);
  assert.equal(await upload.isDisabled(), false);
});

test('a clock with disabled updates shows a note and offers none', async () => {
  clock.settings.otaEnabled = false;
  clock.changed(clock.data());
  await page.getByText('Updates are switched off in the settings.').waitFor();
  assert.equal(await page.locator('[data-upload]').count(), 0);
});

test('an upload sends the update password in place of the credentials', async () => {
  clock.settings.secrets.otaPass = 'for updates';
  await signIn();
  await page.getByLabel('Update password').fill('for updates');
  const image = { name: 'clock.img', mimeType: 'application/octet-stream', buffer: Buffer.from('good image') };
  await page.locator('[data-upload="firmware"]').setInputFiles(image);
  const sent = await until('an upload', () => clock.log.find(({ key }) => key === 'POST /upload/firmware'));
  const [scheme, credentials] = sent.headers.authorization.split(' ');
  assert.deepEqual([scheme, Buffer.from(credentials, 'base64').toString()], ['Basic', 'update:for updates']);
});

test('a failed update and a trial are shown', async () => {
  clock.firmware = { ...recorded.care.firmware, trial: true, lastFailure: 'it crashed' };
  await page.reload();
  await page.waitForSelector('[data-firmware]:has-text("This version is on trial")');
  assert.equal(await page.textContent('[data-firmware] q[lang="en"]'), 'it crashed');
  clock.firmware = { ...recorded.care.firmware, trial: false, lastFailure: 'it crashed' };
  await page.reload();
  assert.equal(await page.textContent('[data-firmware] q[lang="en"]'), 'it crashed');
});

test('the reason for not installing a release is shown', async () => {
  const release = page.locator('[data-release]');
  await release.waitFor();
  assert.match(await release.textContent(), /Release 4\.3\.0: its turn has not come: the clock has number 91 for it/);
  assert.equal(await release.getByRole('link').getAttribute('href'), recorded.care.release.url);
});

test('a search for the newest release ends with a result', async () => {
  clock.settings.gitReleaseUrl = 'https://example.org/releases';
  clock.changed(clock.data());
  await page.locator('[data-release]').waitFor();
  await button('Newest release from the feed').click();
  await page.locator('[data-searching]').waitFor();
  assert.equal(await button('Newest release from the feed').isDisabled(), true);
  await page.locator('[data-release]').getByText('its turn has not come').waitFor();
  assert.match(await page.textContent('[data-release]'), /Checked (just now|\d s ago)\./);
});

test('an idle care view sends no requests, and a trial is polled until its end', async () => {
  const context = await browser.newContext();
  const second = await context.newPage();
  await second.clock.install();
  clock.release = { ...recorded.care.release, ageSec: 110 };
  const read = () => clock.log.filter(({ key }) => key === 'GET /api/system/status').length;
  await second.goto(`${clock.url}/care`);
  await second.waitForSelector('[data-release]:has-text("Checked 1 min ago")');
  const before = read();
  // Longer than the interval of polls, and shorter than the silence after which the page reconnects and reads again.
  await second.clock.runFor(10_500);
  await second.waitForSelector('[data-release]:has-text("Checked 2 min ago")');
  assert.equal(read(), before);
  clock.firmware = { ...recorded.care.firmware, trial: true };
  await second.reload();
  await second.waitForSelector('[data-firmware]:has-text("This version is on trial")');
  clock.firmware = { ...recorded.care.firmware, trial: false };
  await second.clock.runFor(11_000);
  await second.waitForSelector('[data-firmware]:not(:has-text("This version is on trial"))');
  await context.close();
});

test('log, crash dump and logos', async () => {
  clock.lines = [{ time: '2026-11-22T09:00:00Z', level: 'warn', text: 'the relay does not answer' }];
  await button('Read the log').click();
  await page.waitForSelector('[data-log]:has-text("09:00:00 warn  the relay does not answer")');
  assert.equal(await button('Save the crash dump').count(), 0);
  clock.dump = 'what was in memory';
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('link', { name: 'Care', exact: true }).click();
  assert.deepEqual(await downloaded(() => button('Save the crash dump').click()), [
    `${clock.settings.hostname}.dmp`,
    clock.dump,
  ]);
  await button('Delete it').click();
  await until('it deleted', () => clock.log.some(({ key }) => key === 'DELETE /api/coredump'));
  await button('Delete it').waitFor({ state: 'detached' });
  await button('Clear the logos of pools').click();
  await until('logos', () => clock.log.some(({ key }) => key === 'POST /api/action/clear_pool_logos'));
});

test('a factory reset requires typing the name of the clock', async () => {
  const erase = button('Erase everything');
  assert.equal(await erase.isDisabled(), true);
  const field = page.locator('#care-reset input');
  await field.fill('some other clock');
  assert.equal(await erase.isDisabled(), true);
  await field.fill(clock.settings.hostname);
  await erase.click();
  await until('the wipe', () => clock.erased === 'factory_reset');
});

test('the address of a section of care leads to it', async () => {
  const phone = await browser.newContext({ viewport: { width: 390, height: 600 } });
  const { page: sent, faults: wrong } = await openPage(phone, clock.url, '/care/reset');
  await sent.waitForFunction(() => {
    const { id, offsetHeight } = document.activeElement;
    const { top } = document.activeElement.getBoundingClientRect();
    return id === 'care-reset-title' && scrollY > 0 && top >= 0 && top + offsetHeight <= innerHeight;
  });
  assert.deepEqual(wrong, []);
  await phone.close();
});

test('newer settings do not replace a field during typing', async () => {
  const { page: sent, faults: wrong } = await openPage(page.context(), clock.url, '/care/reset');
  await sent.locator('#care-reset input').fill('kitch');
  clock.settings.hostname = 'kitchen';
  clock.changed(clock.data());
  await sent.getByText('type the name of this clock: kitchen').waitFor();
  await sent.keyboard.type('en');
  assert.equal(await sent.locator('#care-reset input').inputValue(), 'kitchen');
  assert.deepEqual(wrong, []);
});

test('the page uses the language of the browser or a chosen one', async () => {
  const german = await browser.newContext({ locale: 'de-AT' });
  const { page: second, faults: wrong } = await openPage(german, clock.url, '/settings');
  await second.waitForSelector('[data-key="ledBrightness"]:has-text("Helligkeit der LEDs")');
  assert.equal(await second.getAttribute('html', 'lang'), 'de');
  await second.waitForSelector('[data-twin]:has-text("Blockhöhe 900.123.")', { state: 'attached' });
  await second.goto(clock.url);
  await second.getByRole('button', { name: 'Zeit', exact: true }).waitFor();
  clock.statusOverrides = { sources: { relay: { ...clock.source('relay'), dropped: { 'not-text': 3 } } } };
  clock.changed(clock.data());
  await second.getByText('Verworfene Nachrichten').click();
  await second.getByText('3 × kein Text').waitFor();
  await second.goto(`${clock.url}/settings`);
  Object.assign(clock, { refuse: 'mqttCa:bad_type', hint: 'mqttCa takes certificates in PEM form' });
  await second.locator('[data-key="invertedColor"]').getByRole('switch').click();
  await second.getByRole('button', { name: 'Speichern', exact: true }).click();
  await second.getByText('Die Uhr meldet: mqttCa nimmt Zertifikate in PEM-Form.').waitFor();
  await second.getByRole('button', { name: 'Verwerfen' }).click();
  // English search words work in every language.
  for (const words of ['wipe', 'ip address']) {
    await second.getByLabel('Einstellungen durchsuchen').fill(words);
    await second.locator('nav[aria-label="Anderswo gefunden"] a').first().waitFor();
  }
  await second.getByLabel('Einstellungen durchsuchen').fill('sicherung');
  await second.getByRole('link', { name: 'Einstellungen als Datei' }).click();
  await second.waitForSelector('#care-file');
  await second.waitForSelector('[data-release]:has-text("Version 4.3.0: sie ist noch nicht an der Reihe")');
  for (const [code, words] of [
    ['nl', 'Instellingen als bestand'],
    ['es', 'Ajustes en un archivo'],
    ['en', 'Settings as a file'],
  ]) {
    await second.locator('#care-page select').first().selectOption(code);
    await second.waitForSelector(`#care-file:has-text("${words}")`);
    assert.equal(await second.getAttribute('html', 'lang'), code);
  }
  assert.deepEqual(wrong, []);
  await german.close();
});

test('the search of the settings finds sections of other views', async () => {
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  for (const [word, title] of [
    ['backup', 'Settings as a file'],
    ['reset', 'Factory reset'],
    ['language', 'This page'],
    ['log', 'Log and crash dump'],
  ]) {
    await page.getByLabel('Search the settings').fill(word);
    await page.getByRole('link', { name: title }).waitFor();
  }
  await page.getByLabel('Search the settings').fill('timezone');
  await page.waitForSelector('[data-key="tzString"]');
  await page.getByLabel('Search the settings').fill('ip address');
  await page.getByRole('link', { name: 'This clock' }).click();
  await until('the address in sight', () =>
    page.locator('#system dd', { hasText: clock.settings.ip }).evaluate((fact) => {
      const { top, bottom } = fact.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    }),
  );
});
