/**
 * Only the clock, live, on a whole screen: `?screen=` shows another screen than the clock, `?dark` white on black, and
 * `?transparent` nothing but the ink.
 *
 * The same address without `live` is a picture that a header reloads, for browsers that run no modules.
 */
import type { ErrorBody, Status } from '../lib/documents.gen';
import { asBlob, asText, forgetKeepsake, glassKey } from '../lib/keepsake';
import { at } from '../lib/root';
import { encoded, signed, STORED, use } from '../lib/sign';
import type { Frame } from '../lib/sse';
import { browserWorld, EventStream, type StreamState } from '../lib/stream';
import './glass.css';
import { framed, shifted, type Size } from './frame';
import { aged, language, words } from './words';

/** Least time between two requests for a picture, ms. */
const GAP_MS = 250;
const TIMEOUT_MS = 10_000;
/** Time without movement after which the cursor is hidden, ms. */
const IDLE_MS = 1_000;
/** How long a failure of a tap is shown, ms. */
const FAILURE_MS = 4_000;
/** A second tap within this time makes it a double one, ms. */
const DOUBLE_MS = 300;
/** Longest text of a picture that the browser keeps for the time after a reload, bytes. */
const KEPT_MAX = 1024 * 1024;

const query = new URLSearchParams(location.search);
if (isCapable()) {
  if (query.has('live')) start();
  else location.replace(`${location.search}${location.search ? '&' : '?'}live${location.hash}`);
} else if (query.has('live')) {
  query.delete('live');
  location.replace(`?${query}${location.hash}`);
}

/** True if the browser has every API that the live page needs; others stay on the still picture. */
function isCapable(): boolean {
  const globals = ['fetch', 'ReadableStream', 'TextDecoder', 'AbortController', 'ResizeObserver', 'createImageBitmap'];
  return (
    globals.every((name) => name in window) &&
    'body' in Response.prototype &&
    'arrayBuffer' in Blob.prototype &&
    'replaceChildren' in Element.prototype
  );
}

function start(): void {
  // The address may contain the user name and password, for a kiosk without a keyboard.
  const { username, password } = new URL(document.baseURI);
  if (username || password) use(encoded(decodeURIComponent(username), decodeURIComponent(password)));

  const root = document.documentElement;
  const isClear = query.has('transparent');
  const screen = query.get('screen');
  const dark = query.has('dark') ? !['false', '0'].includes(query.get('dark') ?? '') : isClear ? false : undefined;
  const storageKey = glassKey(screen, dark, isClear);

  const canvas = document.createElement('canvas');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'papertick');
  const message = document.createElement('p');
  message.className = 'message';
  message.setAttribute('role', 'status');
  root.lang = language;
  root.classList.add('live');
  root.classList.toggle('clear', isClear);
  root.classList.toggle('dark', dark === true);
  const main = document.createElement('main');
  main.append(canvas, message);
  document.body.replaceChildren(main);

  /** Size of the canvas in pixels of the device. */
  let size: Size = { width: 0, height: 0 };
  let state: StreamState = { kind: 'connecting' };
  /** When the picture was last known to be current, ms; 0 before the first one. */
  let seenAt = 0;
  /** Number of calls of `forget`: a picture that was requested before the last one must not be shown. */
  let forgotten = 0;
  let last: { address: string; tag: string | null; picture: string } | undefined;
  let isFetching = false;
  let isWanted = false;
  /** Why there is no picture. */
  let refusal = '';
  /** Why a tap failed, for a short time. */
  let failure = '';
  let failureTimer = 0;

  /** Fetches the picture, and fetches it again if something changed meanwhile. */
  async function refresh(): Promise<void> {
    isWanted = true;
    if (isFetching || size.width === 0) return;
    isFetching = true;
    while (isWanted) {
      isWanted = false;
      await fetchPicture();
      showMessage();
      await new Promise((done) => setTimeout(done, GAP_MS));
    }
    isFetching = false;
  }

  async function fetchPicture(): Promise<void> {
    const address = at(`/api/frame.png?${framed(size, { screen, dark })}`);
    const known = last?.address === address && last.tag;
    const before = forgotten;
    try {
      const answer = await send(address, {
        headers: { ...signed(), ...(known && { 'If-None-Match': known }) },
        cache: 'no-store',
        signal: abortSignal(TIMEOUT_MS),
      });
      if (answer.ok) {
        const blob = await answer.blob();
        const picture = await asText(blob);
        const bitmap = await createImageBitmap(blob);
        if (forgotten === before) {
          draw(bitmap);
          last = { address, tag: answer.headers.get('etag'), picture };
          seenAt = Date.now();
        }
        bitmap.close();
      } else if (answer.status === 304) {
        if (forgotten === before) seenAt = Date.now();
      } else if (answer.status !== 401) {
        refusal = words.refused.replace('{why}', await reason(answer));
        return;
      }
      refusal = '';
    } catch {
      // The stream notices a lost connection; the picture is fetched again when it is back.
    }
  }

  function draw(bitmap: ImageBitmap): void {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    const pen = canvas.getContext('2d');
    if (!pen) return;
    pen.drawImage(bitmap, 0, 0);
    if (!isClear) return;
    // The darker (on a dark picture, the lighter) a pixel is, the more of it is ink.
    const image = pen.getImageData(0, 0, bitmap.width, bitmap.height);
    const { data } = image;
    const ink = dark ? 255 : 0;
    for (let place = 0; place < data.length; place += 4) {
      data[place + 3] = Math.abs(data[place]! - (255 - ink));
      data[place] = data[place + 1] = data[place + 2] = ink;
    }
    pen.putImageData(image, 0, 0);
  }

  /** Shows the newest message, or none. */
  function showMessage(): void {
    if (state.kind === 'locked') {
      const link = document.createElement('a');
      link.href = at('/');
      link.textContent = words.signIn;
      if (!message.querySelector('a')) message.replaceChildren(link);
      return;
    }
    const age = seenAt > 0 ? ` ${words.age.replace('{age}', aged(Date.now() - seenAt))}` : '';
    const text = failure || refusal || (state.kind === 'away' ? words.away + age : '');
    if (message.textContent !== text) message.textContent = text;
  }

  function onStreamState(now: StreamState): void {
    const wasLive = state.kind === 'live';
    // While the stream tries again, the clock is still away.
    if (now.kind === 'connecting' && state.kind === 'away') return;
    state = now;
    // The silence may have lasted for hours: timers stand still while the device sleeps.
    if (wasLive && seenAt > 0) seenAt = Math.max(seenAt, stream.lastByteAt);
    if (state.kind === 'live') void refresh();
    if (state.kind === 'away' && !last) void recall();
    if (state.kind === 'locked') forget();
    showMessage();
  }

  function onEvent({ name, data }: Frame): void {
    if (name === 'status') {
      const status = JSON.parse(data) as Status;
      root.classList.toggle('dark', dark ?? status.epdInverted);
      root.classList.toggle('quiet', status.dnd.active && !isClear);
      if (screen === null) canvas.setAttribute('aria-label', status.says);
    }
    if (name === 'status' || name === 'panels') void refresh();
  }

  /** Stores the picture for a page that is loaded while the clock is away. */
  function keep(): void {
    if (!last || last.picture.length > KEPT_MAX) return;
    try {
      localStorage.setItem(storageKey, JSON.stringify({ at: seenAt, picture: last.picture }));
    } catch {
      // Storage may be disabled or full; such a page stays empty then.
    }
  }

  /** Shows the stored picture. */
  async function recall(): Promise<void> {
    const before = forgotten;
    try {
      const kept = JSON.parse(localStorage.getItem(storageKey) ?? 'null') as { at: number; picture: string } | null;
      if (!kept || last) return;
      const bitmap = await createImageBitmap(asBlob(kept.picture));
      if (!last && forgotten === before) {
        draw(bitmap);
        seenAt = kept.at;
      }
      bitmap.close();
      showMessage();
    } catch {
      // No stored picture can be read.
    }
  }

  /** Clears the picture and removes the stored ones. */
  function forget(): void {
    forgotten += 1;
    canvas.width = 0;
    last = undefined;
    seenAt = 0;
    forgetKeepsake();
  }

  /** Shows the next or the previous screen of the clock; a page with a screen of its own stays there. */
  async function step(direction: 'next' | 'previous'): Promise<void> {
    if (screen !== null) return;
    failure = '';
    try {
      const answer = await send(at(`/api/screen/${direction}`), {
        method: 'POST',
        headers: signed(),
        signal: abortSignal(TIMEOUT_MS),
      });
      if (!answer.ok) failure = words.refused.replace('{why}', await reason(answer));
    } catch {
      failure = words.unreachable;
    }
    showMessage();
    clearTimeout(failureTimer);
    if (failure)
      failureTimer = setTimeout(() => {
        failure = '';
        showMessage();
      }, FAILURE_MS);
  }

  async function turnFullScreen(): Promise<void> {
    try {
      await (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen());
    } catch {
      // A frame or a browser may forbid it.
    }
  }

  /** Keeps the screen on. Browsers offer that over TLS and on the same machine only, and end it in the background. */
  async function stayAwake(): Promise<void> {
    try {
      if (document.visibilityState === 'visible') await navigator.wakeLock?.request('screen');
    } catch {
      // A device with a low battery may refuse it.
    }
  }

  /** Once a minute: moves the picture against burn-in, and refreshes what sends no event, such as the time of day. */
  function everyMinute(): void {
    const { x, y } = isClear ? { x: 0, y: 0 } : shifted(Math.floor(Date.now() / 60_000));
    canvas.style.transform = `translate(${x / devicePixelRatio}px, ${y / devicePixelRatio}px)`;
    if (state.kind === 'live') void refresh();
    keep();
    setTimeout(everyMinute, 60_000 - (Date.now() % 60_000) + 50);
  }

  const stream = new EventStream('/events', { state: onStreamState, frame: onEvent }, { ...browserWorld, fetch: send });

  let idle = 0;
  function onPointerMove(): void {
    root.classList.remove('idle');
    clearTimeout(idle);
    idle = setTimeout(() => root.classList.add('idle'), IDLE_MS);
  }

  let tap = 0;
  addEventListener('click', (event) => {
    if ((event.target as Element).closest('a')) return;
    clearTimeout(tap);
    if (event.detail > 1) void turnFullScreen();
    else tap = setTimeout(() => void step('next'), DOUBLE_MS);
  });
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as Element).closest('a')) return;
    if (event.key === ' ' || event.key === 'ArrowRight') void step('next');
    else if (event.key === 'ArrowLeft') void step('previous');
    else if (event.key === 'f') void turnFullScreen();
    else return;
    event.preventDefault();
  });
  addEventListener('pointermove', onPointerMove);
  addEventListener('online', () => stream.retryNow());
  // The main page signs in and out in another tab.
  addEventListener('storage', ({ key }) => {
    if (key !== STORED) return;
    // Otherwise `pagehide` would store the picture again.
    forget();
    location.reload();
  });
  addEventListener('pagehide', keep);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible') return;
    void stayAwake();
    if (state.kind !== 'locked') stream.retryNow();
  });
  setInterval(() => state.kind === 'away' && showMessage(), 1_000);

  new ResizeObserver(() => {
    const { width, height } = canvas.getBoundingClientRect();
    size = { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) };
    if (state.kind === 'live') void refresh();
  }).observe(canvas);

  onPointerMove();
  everyMinute();
  void stayAwake();
  stream.start();
  if ('serviceWorker' in navigator && import.meta.env.PROD)
    void navigator.serviceWorker.register(at('/sw.js')).catch(() => {});
}

/** A signal that aborts a request after a time; `AbortSignal.timeout` is missing before Safari 16 and Chrome 103. */
function abortSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), ms);
  return controller.signal;
}

/** Sends a request. Its address is made from the origin, because no request may name a password in its address. */
function send(path: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  return fetch(new URL(String(path), location.origin), init);
}

async function reason(answer: Response): Promise<string> {
  try {
    return ((await answer.json()) as ErrorBody).error;
  } catch {
    return String(answer.status);
  }
}
