// Starts a headless Chromium with a profile of its own, and pages that watch for what must never happen.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** How long a test waits for what should come at once, ms: a busy machine is slow, and a page that lost its clock waits 5 s. */
const TIMEOUT_MS = 20_000;

/** Starts a browser; its profile is fresh and goes away with it. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.PAPERTICK_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: ARGS,
  });
}

/** What a clock may refuse; all else of the page is there while the clock is. */
const REFUSABLE = /^\/(api|events|sim|upload|manifest\.json)\b/;

/** Tells whether the browser complains of an answer that the page has to live with: a refusal, or none at all. */
function isExpected(message) {
  const text = message.text();
  if (/ERR_/.test(text)) return true;
  const { url } = message.location();
  return /Failed to load resource/.test(text) && REFUSABLE.test(new URL(url).pathname);
}

/** Opens the page of a clock; `faults` collects script errors, refused content and requests to elsewhere. */
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

/** Waits until a check of the world outside the page holds. */
export async function until(what, check, ms = TIMEOUT_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    assert.ok(Date.now() < end, `in vain: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
