// Checks every view with axe, at widths from a phone to a desktop and in both themes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MockClock } from '../mock/clock.mjs';
import { introduced } from '../mock/displays.mjs';
import { launch, openPage, violations } from './browser.mjs';

let browser;
let clock;

before(async () => {
  browser = await launch();
  clock = new MockClock();
  await clock.listen();
});

after(async () => {
  await browser.close();
  await clock.close();
});

for (const [colorScheme, width] of [
  ['light', 390],
  ['dark', 768],
  ['light', 1000],
  ['dark', 1440],
]) {
  test(`${colorScheme}, ${width} px`, async () => {
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme,
      reducedMotion: 'reduce',
    });
    for (const [path, there] of [
      ['/', '[data-bench]'],
      ['/settings', '[data-key="digitFontPx"]'],
      ['/care', '#care-reset'],
    ]) {
      const { page, faults } = await openPage(context, clock.url, path);
      await page.waitForSelector(there);
      if (path === '/') await page.locator('[data-bench] summary').click();
      if (path === '/settings') await page.locator('[data-key="proxyEnabled"]').getByRole('switch').click();
      assert.deepEqual(await violations(page), [], path);
      assert.deepEqual(faults, []);
      await page.close({ runBeforeUnload: false });
    }
    await context.close();
  });
}

test('forced colours and the welcome form', async () => {
  const context = await browser.newContext({
    viewport: { width: 1000, height: 900 },
    forcedColors: 'active',
    reducedMotion: 'reduce',
  });
  clock.settings.welcomed = false;
  for (const [path, there] of [
    ['/', '[data-first-run]'],
    ['/settings', '[data-key="digitFontPx"]'],
    ['/care', '#care-reset'],
  ]) {
    const { page, faults } = await openPage(context, clock.url, path);
    await page.waitForSelector(there);
    assert.deepEqual(await violations(page), [], path);
    assert.deepEqual(faults, []);
    await page.close();
  }
  clock.settings.welcomed = true;
  await context.close();
});

for (const colorScheme of ['light', 'dark']) {
  test(`${colorScheme}, editor, choice by pictures and displays`, async () => {
    const context = await browser.newContext({ viewport: { width: 1000, height: 900 }, colorScheme });
    const { page } = await openPage(context, clock.url);
    await page.getByRole('button', { name: 'Write on the clock' }).click();
    await page.waitForSelector('[data-composer]');
    await page.keyboard.type('HODL');
    await page.getByRole('button', { name: 'Save text', exact: true }).click();
    await page.waitForSelector('[data-saved]');
    assert.deepEqual(await violations(page), []);
    clock.settings.keptTexts = [];
    await page.goto(`${clock.url}/settings/display`);
    await page.locator('[data-looks="digitFontPx"] summary').click();
    await page.waitForSelector('[data-looks="digitFontPx"] img');
    assert.deepEqual(await violations(page), []);
    clock.displays = [introduced('917F0B')];
    await page.goto(`${clock.url}/care/screens`);
    await page.locator('[data-display] summary').click();
    await page.locator('[data-display]').getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Shows').selectOption('screens of its own in turn');
    await page.locator('[data-layout="board"]').click();
    await page.locator('[data-address="glass"]').getByRole('button', { name: 'QR code' }).click();
    await page.waitForSelector('[data-picture="code"]');
    assert.deepEqual(await violations(page), []);
    await page.goto(`${clock.url}/glass?live`);
    await page.waitForFunction(() => document.querySelector('canvas')?.width === 1000);
    await page.locator('canvas').click();
    assert.deepEqual(await violations(page), []);
    await context.close();
  });

  test(`${colorScheme}, banners, dialog and sign-in form`, async () => {
    const context = await browser.newContext({ viewport: { width: 1000, height: 900 }, colorScheme });
    const { page } = await openPage(context, clock.url);
    clock.stale = true;
    clock.link = 'down';
    clock.statusOverrides = {
      safeMode: 'it crashed 3 times',
      sources: { relay: { ...clock.source('pool'), ageSec: 7_300 } },
      restartFor: ['dataSource'],
      notes: ['The settings were damaged.'],
    };
    clock.changed(clock.data());
    await page.waitForSelector('[data-safe-mode]');
    assert.deepEqual(await violations(page), []);
    await page.getByRole('button', { name: 'Restart…' }).click();
    assert.deepEqual(await violations(page), []);
    Object.assign(clock, { stale: false, link: 'up', statusOverrides: {}, password: 'secret' });
    const locked = await context.newPage();
    await clock.goAway();
    await clock.comeBack();
    await locked.goto(clock.url);
    await locked.waitForSelector('[data-sign-in]', { timeout: 15_000 });
    assert.deepEqual(await violations(locked), []);
    clock.password = '';
    await context.close();
  });
}
