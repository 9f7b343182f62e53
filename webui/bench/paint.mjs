// Measures the time to the first paint of the page and to all panels:
//
//   node bench/paint.mjs [url of a clock] [rounds]
//
// Each round has a new browser profile without caches. Measured at full speed and with the processor throttled six times
// by Chromium. The baseline is a page of one line from a minimal server, in the same browser.
import http from 'node:http';
import { MockClock } from '../tests/mock/clock.mjs';
import { launch } from '../tests/e2e/browser.mjs';

const rounds = Number(process.argv[3] ?? 9);
const mock = process.argv[2] ? undefined : new MockClock();
const clock = process.argv[2] ?? (await mock.listen());

const server = http.createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>papertick'));
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const baseline = `http://127.0.0.1:${server.address().port}/`;

const browser = await launch();

/** Time to the first paint of a page, and until a condition holds, ms. */
async function measure(url, rate, condition) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  await page.goto(url);
  if (condition) await page.waitForFunction(condition);
  const complete = await page.evaluate(() => performance.now());
  const painted = await page.evaluate(
    () =>
      new Promise((done) => {
        const report = (entries) => done(entries.find(({ name }) => name === 'first-contentful-paint')?.startTime);
        new PerformanceObserver((list) => report(list.getEntries())).observe({ type: 'paint', buffered: true });
      }),
  );
  await context.close();
  return { painted, complete };
}

const median = (figures) => figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)];

/** True if all panels have been drawn. */
function panels() {
  const all = [...document.querySelectorAll('canvas')];
  return all.length > 0 && all.every((panel) => panel.dataset.version);
}

console.log('| Processor | First paint, ms | Target | Page of one line, ms | Ratio | All panels, ms |');
console.log('|---|---|---|---|---|---|');
for (const [name, rate, target] of [
  ['full speed', 1, 200],
  ['six times slower', 6, 1000],
]) {
  const [page, reference] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    page.push(await measure(`${clock}/`, rate, panels));
    reference.push(await measure(baseline, rate));
  }
  const medianOf = (results, key) => Math.round(median(results.map((result) => result[key])));
  const [first, other] = [medianOf(page, 'painted'), medianOf(reference, 'painted')];
  const ratio = (first / other).toFixed(1);
  console.log(`| ${name} | ${first} | < ${target} | ${other} | ${ratio} | ${medianOf(page, 'complete')} |`);
}

await browser.close();
server.close();
await mock?.close();
