// A headless Firefox from a distribution package, controlled by WebDriver BiDi.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Timeout of the start, ms. */
const START_TIMEOUT_MS = 30_000;

/** Starts a Firefox with a temporary profile; `faults` collects script errors and requests to other hosts. */
export async function launchFirefox(program, size) {
  const profile = await mkdtemp(join(tmpdir(), 'papertick-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'];
  const browser = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((done) => browser.once('exit', done));
  const socket = new WebSocket(`${await address(browser)}/session`);
  await new Promise((done, failed) => {
    socket.onopen = done;
    socket.onerror = () => failed(new Error('Firefox refuses the connection'));
  });

  const waiting = new Map();
  const faults = [];
  let last = 0;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === 'event') return fault(message);
    const { resolve, reject } = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.type === 'success') resolve(message.result);
    else reject(new Error(`${message.error}: ${message.message}`));
  };
  const fault = ({ method, params }) => {
    if (method === 'log.entryAdded' && params.level === 'error') faults.push(params.text);
    if (
      method === 'network.beforeRequestSent' &&
      !/^(http:\/\/127\.0\.0\.1:|data:|blob:|about:)/.test(params.request.url)
    )
      faults.push(`request to ${params.request.url}`);
  };
  const send = (method, params) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params }));
    });

  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded', 'network.beforeRequestSent'] });
  const { context } = await send('browsingContext.create', { type: 'tab' });
  await send('browsingContext.setViewport', { context, viewport: size });

  return {
    faults,
    open: (url) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
    /** Value of an expression in the page. */
    async evaluate(expression) {
      const reply = await send('script.evaluate', { expression, target: { context }, awaitPromise: true });
      if (reply.type === 'exception') throw new Error(reply.exceptionDetails.text);
      return reply.result.value;
    },
    async picture() {
      const { data } = await send('browsingContext.captureScreenshot', { context });
      return Buffer.from(data, 'base64');
    },
    async close() {
      socket.close();
      browser.kill();
      await ended;
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** Address of the WebDriver BiDi server of a started browser. */
function address(browser) {
  return new Promise((found, failed) => {
    let output = '';
    const timeout = setTimeout(() => failed(new Error(`Firefox does not start: ${output}`)), START_TIMEOUT_MS);
    browser.once('error', failed);
    browser.stderr.on('data', (bytes) => {
      output += bytes;
      const match = /WebDriver BiDi listening on (\S+)/.exec(output);
      if (!match) return;
      clearTimeout(timeout);
      found(match[1]);
    });
  });
}
