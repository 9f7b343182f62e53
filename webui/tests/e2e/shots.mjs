// Takes screenshots of the page for a visual check: `node tests/e2e/shots.mjs [url]`.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MockClock } from '../mock/clock.mjs';
import { launch, openPage } from './browser.mjs';

const SHOTS = fileURLToPath(new URL('../shots/', import.meta.url));
const SIZES = {
  390: { width: 390, height: 844 },
  768: { width: 768, height: 1024 },
  1000: { width: 1000, height: 800 },
  1440: { width: 1440, height: 900 },
};

const argument = process.argv[2];
const mock = argument ? undefined : new MockClock();
const url = argument ?? (await mock.listen());
await mkdir(SHOTS, { recursive: true });
if (mock)
  Object.assign(mock, {
    leds: ['#FF5A00', '#FF5A00', '#38D430', '#000000'],
    front: { on: true, brightness: 2048 },
    lux: 2,
  });
const browser = await launch();
for (const theme of ['light', 'dark']) {
  for (const [name, viewport] of Object.entries(SIZES)) {
    const context = await browser.newContext({
      viewport,
      colorScheme: theme,
      deviceScaleFactor: name === '390' ? 2 : 1,
    });
    for (const [view, path] of Object.entries({
      clock: '/',
      settings: '/settings',
      care: '/care',
    })) {
      const { page } = await openPage(context, url, path);
      await page.waitForSelector('canvas, #care-reset');
      await page.waitForTimeout(700);
      await page.screenshot({ path: `${SHOTS}${name}-${theme}-${view}.png`, fullPage: true });
      await page.close();
    }
    await context.close();
  }
}
await browser.close();
await mock?.close();
