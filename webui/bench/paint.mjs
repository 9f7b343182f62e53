// Measures how soon the page shows something, and how soon the panels are in it:
//
//   node bench/paint.mjs [url of a clock] [rounds]
//
// A fresh profile for each round, so that nothing is kept; once as it is, and once on a processor that Chromium makes six
// times slower. The yardstick is a page of one line, served by a server of one line, in the same browser.
import http from 'node:http';
import { MockClock } from '../tests/mock/clock.mjs';
import { launch } from '../tests/e2e/browser.mjs';

const rounds = Number(process.argv[3] ?? 9);
const mock = process.argv[2] ? undefined : new MockClock();
const clock = process.argv[2] ?? (await mock.listen());

const bare = http.createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<p>papertick'));
await new Promise((done) => bare.listen(0, '127.0.0.1', done));
const yardstick = `http://127.0.0.1:${bare.address().port}/`;

const browser = await launch();

/** First paint of a page, and when what is waited for is there, ms. */
async function look(url, rate, awaited) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  await page.goto(url);
  if (awaited) await page.waitForFunction(awaited);
  const there = await page.evaluate(() => performance.now());
  const painted = await page.evaluate(
    () =>
      new Promise((done) => {
        const told = (entries) => done(entries.find(({ name }) => name === 'first-contentful-paint')?.startTime);
        new PerformanceObserver((list) => told(list.getEntries())).observe({ type: 'paint', buffered: true });
      }),
  );
  await context.close();
  return { painted, there };
}

const median = (figures) => figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)];

/** All panels have been drawn. */
function panels() {
  const all = [...document.querySelectorAll('canvas')];
  return all.length > 0 && all.every((panel) => panel.dataset.version);
}

console.log('| Processor | First paint, ms | Aim | A page of one line, ms | Ratio | All panels, ms |');
console.log('|---|---|---|---|---|---|');
for (const [name, rate, aim] of [
  ['as it is', 1, 200],
  ['six times slower', 6, 1000],
]) {
  const [ours, theirs] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await look(`${clock}/`, rate, panels));
    theirs.push(await look(yardstick, rate));
  }
  const of = (looks, what) => Math.round(median(looks.map((look) => look[what])));
  const [first, other] = [of(ours, 'painted'), of(theirs, 'painted')];
  console.log(`| ${name} | ${first} | < ${aim} | ${other} | ${(first / other).toFixed(1)} | ${of(ours, 'there')} |`);
}

await browser.close();
bare.close();
await mock?.close();
