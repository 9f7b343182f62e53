// Takes pictures of the page for a look by eye: `node tests/e2e/shots.mjs [url]`.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MockClock } from '../mock/clock.mjs';
import { launch, openPage } from './browser.mjs';

const SHOTS = fileURLToPath(new URL('../shots/', import.meta.url));
const SIZES = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 360, height: 780 },
  narrow: { width: 320, height: 640 },
};

const given = process.argv[2];
const mock = given ? undefined : new MockClock();
const url = given ?? (await mock.listen());
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
      deviceScaleFactor: name === 'desktop' ? 1 : 2,
    });
    for (const [view, hash] of Object.entries({
      clock: '#/',
      settings: '#/settings',
      display: '#/settings/display',
      network: '#/settings/network',
    })) {
      const { page } = await openPage(context, url, `/${hash}`);
      await page.waitForSelector('canvas');
      await page.waitForTimeout(700);
      await page.screenshot({ path: `${SHOTS}${name}-${theme}-${view}.png`, fullPage: view === 'clock' });
      await page.close();
    }
    await context.close();
  }
}
await browser.close();
await mock?.close();
