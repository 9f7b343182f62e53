// Starts a headless Chromium with a new profile, and opens pages that record script errors and unexpected requests.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

/** Programs of Debian. The first one needs half the time. */
const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Timeout of tests, ms: a busy machine is slow, and a page waits 5 s before it reconnects. */
const TIMEOUT_MS = 20_000;

/** Starts a browser with a temporary profile. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.PAPERTICK_CHROMIUM ?? BROWSERS.find(existsSync),
    headless: true,
    args: ARGS,
  });
}

/** Paths for which an error response is allowed; the files of the page must load. */
const REFUSABLE = /^\/(api|events|sim|upload|manifest\.json)\b/;

/** True if the browser reports a failed request that the page must handle: an error response, or no response. */
function isExpected(message) {
  const text = message.text();
  if (/ERR_/.test(text)) return true;
  const { url } = message.location();
  return /Failed to load resource/.test(text) && REFUSABLE.test(new URL(url).pathname);
}

/** Opens the page of a clock; `faults` collects script errors, blocked content and requests to other hosts. */
export async function openPage(context, url, path = '/') {
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(`script error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !isExpected(message)) faults.push(`${message.text()} ${message.location().url}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data:|blob:http:\/\/127\.0\.0\.1:)/.test(request.url()))
      faults.push(`request to ${request.url()}`);
  });
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.goto(url + path);
  await page.waitForSelector('[data-link="live"]');
  return { page, faults };
}

/** The faults that axe finds in a page. */
export async function violations(page) {
  // Evaluated by the debugger, because the content security policy allows only scripts of the page.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

/** Waits until a check returns a truthy value, and returns it. */
export async function until(what, check, ms = TIMEOUT_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    assert.ok(Date.now() < end, `timeout: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
