// The page of the real program below a path: behind a proxy that strips a per-session prefix, as the ingress of
// Home Assistant does, and behind a proxy that does not strip a fixed prefix.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, until } from './browser.mjs';
import { BIN, skip } from './program.mjs';

let browser;
let program;
let folder;
let clock;
const proxies = [];

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'papertick-proxy-'));
  const args = ['demo', '--listen', '127.0.0.1:0', '--data-dir', folder, '--panel-timing', 'instant'];
  args.push('--trusted-proxy', '127.0.0.1', '--public-url', 'http://home.example/clock');
  program = spawn(BIN, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  program.stdout.on('data', (piece) => (output += piece));
  [, clock] = await until('the address', () => /(http:\/\/[\d.]+:\d+)/.exec(output));
  browser = await launch();
});

after(async () => {
  if (skip) return;
  await browser?.close();
  for (const proxy of proxies) proxy.close().closeAllConnections();
  program.kill('SIGTERM');
  await new Promise((done) => program.once('exit', done));
  await rm(folder, { recursive: true, force: true });
});

/** Starts a proxy; `forward` returns path and headers for the clock, or undefined to answer 404. */
async function proxy(forward) {
  const { hostname, port } = new URL(clock);
  const server = http.createServer((request, response) => {
    const target = forward(request);
    if (!target) return void response.writeHead(404).end();
    const headers = { ...request.headers, ...target.headers };
    const upstream = http.request({ hostname, port, method: request.method, path: target.path, headers }, (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  });
  proxies.push(server);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${server.address().port}`;
}

/** Checks every view, a deep link, Back, requests, the documents and the full screen page below a path. */
async function checkPages(url, root) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const { page, faults } = await openPage(context, url, root);
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 7);
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.waitForURL(`${url}${root}settings`);
  await page.goBack();
  await page.waitForURL(url + root);
  for (const [name, id] of [
    ['Market Cap', 30],
    ['Block Height', 0],
  ]) {
    await page.getByRole('button', { name, exact: true }).click();
    const shown = async () => (await (await fetch(`${clock}/api/status`)).json()).currentScreen;
    await until(name, async () => (await shown()) === id);
  }
  // A deep link is loaded from the clock.
  await page.goto(`${url}${root}settings/display`);
  await page.waitForSelector('[data-link="live"]');
  const input = page.getByRole('searchbox');
  await input.fill('digit height');
  await page.getByText('Digit height').first().waitFor();
  await page.goto(`${url}${root}care/help`);
  await page.waitForSelector('[data-link="live"]');
  await page.getByRole('link', { name: 'Handbook', exact: true }).click();
  await page.waitForURL(`${url}${root}handbook/`);
  await page.goto(`${url}${root}docs`);
  await page.getByText('/api/status', { exact: false }).first().waitFor();
  await page.goto(`${url}${root}glass`);
  await page.waitForFunction(() => document.querySelector('canvas')?.width === 1280);
  await page.goto(`${url}${root}api/no/such/thing`);
  await page.getByRole('link', { name: 'Back to the clock' }).click();
  await page.waitForURL(url + root);
  assert.deepEqual(
    faults.filter((fault) => !/404/.test(fault)),
    [],
  );
  await context.close();
}

test('a proxy that strips a per-session prefix', { skip }, async () => {
  for (const token of ['AbC-123', 'another_one']) {
    const root = `/api/hassio_ingress/${token}/`;
    const url = await proxy((request) => {
      if (!request.url.startsWith(root)) return undefined;
      return {
        path: request.url.slice(root.length - 1),
        headers: {
          host: 'clock.internal.example',
          'x-forwarded-host': request.headers.host,
          'x-forwarded-for': '192.0.2.7',
          'x-ingress-path': root.slice(0, -1),
        },
      };
    });
    await checkPages(url, root);
  }
});

test('a proxy that does not strip a prefix', { skip }, async () => {
  const url = await proxy((request) => (request.url.startsWith('/clock') ? { path: request.url } : undefined));
  await checkPages(url, '/clock/');
});
