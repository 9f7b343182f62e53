// Starts a headless Chromium with a profile of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Runs `use` with a browser context and ends the browser whatever happens. */
export async function withBrowser(options, use) {
  const profile = await mkdtemp(join(tmpdir(), 'papertick-page-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.PAPERTICK_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: ARGS,
    ...options,
  });
  try {
    return await use(context);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}
