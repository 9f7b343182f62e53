// The care of a clock: settings as a file, updates, the log, the language of the page, a reset.
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
const asked = (key) => clock.log.filter((entry) => entry.key === key).map(({ body }) => body);

test('settings leave as a file, and secrets only where a password is asked for', async () => {
  const download = page.waitForEvent('download');
  await button('Save without secrets').click();
  const file = await download;
  assert.match(file.suggestedFilename(), /\.json$/);
  const stream = await file.createReadStream();
  let text = '';
  for await (const piece of stream) text += piece;
  assert.deepEqual(JSON.parse(text), recorded.care.exported);
  await page.getByLabel('Passphrase for the secrets').fill('long enough');
  await button('Save with secrets').click();
  await page.getByText('Secrets leave only a clock that asks for a password.').waitFor();
  assert.deepEqual(asked('POST /api/settings/export').at(-1), { passphrase: 'long enough' });
});

test('a file is looked at before it is taken over, all but what is left out', async () => {
  const buffer = Buffer.from(JSON.stringify(recorded.care.exported));
  await page
    .locator('#care-file input[type=file]')
    .setInputFiles({ name: 'a.json', mimeType: 'application/json', buffer });
  await page.waitForSelector('[data-change="ledBrightness"]');
  assert.match(await page.textContent('[data-change="ledBrightness"]'), /LED brightness 128 → 64/);
  assert.match(await page.textContent('[data-change="invertedColor"]'), /off → on/);
  for (const [name, words] of [
    ['disableLeds', 'LEDs on → off'],
    ['dataSource', 'Source Public relay → Custom relay'],
    ['blockFlashColor', 'Colour of a new block #e04300 → #0000ff'],
    ['timerSeconds', 'Time per screen 30 min → 10 min'],
    ['screensHidden', 'Not in the rotation #90 → Block Height, Time'],
    ['dndStartHour', 'Quiet hours every day: From 22 h → 1 h'],
    ['priceWitnesses', 'Price witnesses Coinbase, Bitstamp → Gemini'],
    ['flMaxBrightness', 'Full brightness 50 % → 24 %'],
  ])
    assert.equal((await page.textContent(`[data-change="${name}"]`)).trim().replace(/\s+/g, ' '), words);
  await page.getByText('Not known here: moonPhase').waitFor();
  assert.equal(clock.settings.ledBrightness, 128);
  await page.locator('[data-change="invertedColor"] input').uncheck();
  await button('Take over').click();
  await page.getByText('The settings of the file are taken over.').waitFor();
  const { except, dryRun } = asked('POST /api/settings/import').at(-1);
  assert.deepEqual([except, dryRun], [['invertedColor'], false]);
  assert.deepEqual([clock.settings.ledBrightness, clock.settings.invertedColor], [64, false]);
});

test('what is no file of settings is told at once', async () => {
  const file = { name: 'a.json', mimeType: 'application/json', buffer: Buffer.from('not json') };
  await page.locator('#care-file input[type=file]').setInputFiles(file);
  await page.getByText('This is no file of settings.').waitFor();
  assert.deepEqual(asked('POST /api/settings/import'), []);
});

test('an update goes up from a file, and a refusal is told in words', async () => {
  const image = (text) => ({ name: 'clock.img', mimeType: 'application/octet-stream', buffer: Buffer.from(text) });
  await page.locator('[data-upload="firmware"]').setInputFiles(image('bad'));
  await page.waitForSelector('[data-told]:has-text("this is no image")');
  await page.locator('[data-upload="firmware"]').setInputFiles(image('good image'));
  await page.waitForSelector('[data-told]:has-text("Installed")');
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

test('who is signed in sends the password for updates instead', async () => {
  clock.settings.secrets.otaPass = 'for updates';
  clock.password = 'correct horse';
  await page.reload();
  const form = page.locator('[data-sign-in]');
  await form.getByLabel('Password').fill('correct horse');
  await form.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Update password').fill('for updates');
  const image = { name: 'clock.img', mimeType: 'application/octet-stream', buffer: Buffer.from('good image') };
  await page.locator('[data-upload="firmware"]').setInputFiles(image);
  const sent = await until('an upload', () => clock.log.find(({ key }) => key === 'POST /upload/firmware'));
  const [scheme, told] = sent.headers.authorization.split(' ');
  assert.deepEqual([scheme, Buffer.from(told, 'base64').toString()], ['Basic', 'update:for updates']);
});

test('an update that failed is told, and one that is on trial', async () => {
  clock.firmware = { ...recorded.care.firmware, trial: true, lastFailure: 'it broke off' };
  await page.reload();
  await page.waitForSelector('[data-firmware]:has-text("It is new and on trial.")');
  assert.equal(await page.textContent('[data-firmware] q[lang="en"]'), 'it broke off');
  clock.firmware = { ...recorded.care.firmware, trial: false, lastFailure: 'it broke off' };
  await page.reload();
  assert.equal(await page.textContent('[data-firmware] q[lang="en"]'), 'it broke off');
});

test('why a release is not taken is told in words', async () => {
  const told = page.locator('[data-release]');
  await told.waitFor();
  assert.match(await told.textContent(), /Release 4\.3\.0: its turn has not come: the clock has number 91 for it/);
  assert.equal(await told.getByRole('link').getAttribute('href'), recorded.care.release.url);
});

test('a look for the newest release has an end that is told', async () => {
  clock.settings.gitReleaseUrl = 'https://example.org/releases';
  clock.changed(clock.data());
  await page.locator('[data-release]').waitFor();
  await button('Newest release from the feed').click();
  await page.locator('[data-looking]').waitFor();
  assert.equal(await button('Newest release from the feed').isDisabled(), true);
  await page.locator('[data-release]').getByText('its turn has not come').waitFor();
  assert.match(await page.textContent('[data-release]'), /Looked (just now|\d s ago)\./);
});

test('the care of a clock at rest asks for nothing, and a trial is followed to its end', async () => {
  const context = await browser.newContext();
  const second = await context.newPage();
  await second.clock.install();
  clock.release = { ...recorded.care.release, ageSec: 60 };
  const read = () => clock.log.filter(({ key }) => key === 'GET /api/system/status').length;
  await second.goto(`${clock.url}/care`);
  await second.waitForSelector('[data-release]:has-text("Looked 1 min ago")');
  const before = read();
  await second.clock.runFor(600_000);
  assert.equal(read(), before);
  await second.waitForSelector('[data-release]:has-text("Looked 11 min ago")');
  clock.firmware = { ...recorded.care.firmware, trial: true };
  await second.reload();
  await second.waitForSelector('[data-firmware]:has-text("It is new and on trial.")');
  clock.firmware = { ...recorded.care.firmware, trial: false };
  await second.clock.runFor(11_000);
  await second.waitForSelector('[data-firmware]:not(:has-text("It is new and on trial."))');
  await context.close();
});

test('log, crash dump and logos', async () => {
  clock.lines = [{ time: '2026-11-22T09:00:00Z', level: 'warn', text: 'the relay does not answer' }];
  await button('Read the log').click();
  await page.waitForSelector('[data-log]:has-text("09:00:00 warn  the relay does not answer")');
  await button('Save the crash dump').click();
  await page.getByText('There is no crash dump.').waitFor();
  await button('Delete it').click();
  await until('it deleted', () => clock.log.some(({ key }) => key === 'DELETE /api/coredump'));
  await button('Clear the logos of pools').click();
  await until('logos', () => clock.log.some(({ key }) => key === 'POST /api/action/clear_pool_logos'));
});

test('everything is erased only by who types the name of the clock', async () => {
  const erase = button('Erase everything');
  assert.equal(await erase.isDisabled(), true);
  const field = page.locator('#care-reset input');
  await field.fill('some other clock');
  assert.equal(await erase.isDisabled(), true);
  await field.fill(clock.settings.hostname);
  await erase.click();
  await until('the wipe', () => clock.erased === 'factory_reset');
});

test('the page speaks the language of the browser, and another by hand', async () => {
  const german = await browser.newContext({ locale: 'de-AT' });
  const { page: second, faults: wrong } = await openPage(german, clock.url, '/settings');
  await second.waitForSelector('[data-key="ledBrightness"]:has-text("Helligkeit der LEDs")');
  assert.equal(await second.getAttribute('html', 'lang'), 'de');
  await second.waitForSelector('[data-twin]:has-text("Blockhöhe 900.123.")', { state: 'attached' });
  await second.goto(clock.url);
  await second.getByRole('button', { name: 'Zeit', exact: true }).waitFor();
  clock.ailments = { sources: { relay: { ...clock.source('relay'), dropped: { 'not-text': 3 } } } };
  clock.changed(clock.data());
  await second.getByText('Verworfen').click();
  await second.getByText('3 × kein Text').waitFor();
  await second.goto(`${clock.url}/settings`);
  Object.assign(clock, { refuse: 'mqttCa:bad_type', hint: 'mqttCa takes certificates in PEM form' });
  await second.locator('[data-key="invertedColor"]').getByRole('switch').click();
  await second.getByRole('button', { name: 'Speichern', exact: true }).click();
  await second.getByText('Die Uhr sagt: mqttCa nimmt Zertifikate in PEM-Form.').waitFor();
  await second.getByRole('button', { name: 'Verwerfen' }).click();
  // English words find it as well.
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

test('a search finds what is no setting', async () => {
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
