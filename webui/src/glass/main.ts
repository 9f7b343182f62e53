/**
 * Only the clock, live, on a whole screen: `?screen=` shows another screen than the clock, `?dark` white on black, and
 * `?transparent` nothing but the ink.
 *
 * The same address without `live` is a picture that a header reloads, for browsers that run no modules.
 */
import type { ErrorBody, Status } from '../lib/documents.gen';
import { asBlob, asText } from '../lib/keepsake';
import { at, ofThisClock } from '../lib/root';
import { encoded, signed, use } from '../lib/sign';
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
const KEPT = ofThisClock('papertick-glass');

const query = new URLSearchParams(location.search);
if (query.has('live')) start();
else location.replace(`${location.search}${location.search ? '&' : '?'}live${location.hash}`);

function start(): void {
  // A kiosk has nobody to sign in, but an address that may name the user and the password.
  const { username, password } = new URL(document.baseURI);
  if (username || password) use(encoded(decodeURIComponent(username), decodeURIComponent(password)));

  const root = document.documentElement;
  const isClear = query.has('transparent');
  const screen = query.get('screen');
  const dark = query.has('dark') ? !['false', '0'].includes(query.get('dark') ?? '') : isClear ? false : undefined;

  const canvas = document.createElement('canvas');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'papertick');
  const told = document.createElement('p');
  told.className = 'told';
  told.setAttribute('role', 'status');
  root.lang = language;
  root.classList.add('live');
  root.classList.toggle('clear', isClear);
  root.classList.toggle('dark', dark === true);
  const main = document.createElement('main');
  main.append(canvas, told);
  document.body.replaceChildren(main);

  /** Size of the canvas in pixels of the device. */
  let size: Size = { width: 0, height: 0 };
  let state: StreamState = { kind: 'connecting' };
  /** When the picture was last known to be true, ms; 0 before the first one. */
  let seenAt = 0;
  let last: { address: string; tag: string | null; picture: string } | undefined;
  let isFetching = false;
  let isWanted = false;
  /** Why there is no picture. */
  let refusal = '';
  /** What became of a tap, for a short time. */
  let failure = '';
  let failureTimer = 0;

  /** Fetches the picture, and once more if something changed meanwhile. */
  async function look(): Promise<void> {
    isWanted = true;
    if (isFetching || size.width === 0) return;
    isFetching = true;
    while (isWanted) {
      isWanted = false;
      await fetchPicture();
      tell();
      await new Promise((done) => setTimeout(done, GAP_MS));
    }
    isFetching = false;
  }

  async function fetchPicture(): Promise<void> {
    const address = at(`/api/frame.png?${framed(size, { screen, dark })}`);
    const known = last?.address === address && last.tag;
    try {
      const answer = await send(address, {
        headers: { ...signed(), ...(known && { 'If-None-Match': known }) },
        cache: 'no-store',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (answer.status === 304) seenAt = Date.now();
      else if (answer.ok) {
        const picture = await answer.blob();
        await draw(picture);
        last = { address, tag: answer.headers.get('etag'), picture: await asText(picture) };
        seenAt = Date.now();
      } else if (answer.status !== 401) {
        refusal = words.refused.replace('{why}', await reason(answer));
        return;
      }
      refusal = '';
    } catch {
      // The stream notices a clock that is away; its return asks for a picture again.
    }
  }

  async function draw(picture: Blob): Promise<void> {
    const bitmap = await createImageBitmap(picture);
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

  /** Shows what a person has to know, if there is anything. */
  function tell(): void {
    if (state.kind === 'locked') {
      const link = document.createElement('a');
      link.href = at('/');
      link.textContent = words.signIn;
      if (!told.querySelector('a')) told.replaceChildren(link);
      return;
    }
    const age = seenAt > 0 ? ` ${words.age.replace('{age}', aged(Date.now() - seenAt))}` : '';
    const text = failure || refusal || (state.kind === 'away' ? words.away + age : '');
    if (told.textContent !== text) told.textContent = text;
  }

  function streamed(now: StreamState): void {
    const wasLive = state.kind === 'live';
    // While the stream tries again, the clock is still away.
    if (now.kind === 'connecting' && state.kind === 'away') return;
    state = now;
    if (wasLive && seenAt > 0) seenAt = Date.now();
    if (state.kind === 'live') void look();
    if (state.kind === 'away' && !last) void recall();
    if (state.kind === 'locked') forget();
    tell();
  }

  function happened({ name, data }: Frame): void {
    if (name === 'status') {
      const status = JSON.parse(data) as Status;
      root.classList.toggle('dark', dark ?? status.epdInverted);
      root.classList.toggle('quiet', status.dnd.active && !isClear);
      if (screen === null) canvas.setAttribute('aria-label', status.says);
    }
    if (name === 'status' || name === 'panels') void look();
  }

  /** Keeps the picture for a page that is loaded while the clock is away. */
  function keep(): void {
    if (!last || last.picture.length > KEPT_MAX) return;
    try {
      localStorage.setItem(KEPT, JSON.stringify({ at: seenAt, picture: last.picture }));
    } catch {
      // Storage may be refused or full; such a page stays empty then.
    }
  }

  async function recall(): Promise<void> {
    try {
      const kept = JSON.parse(localStorage.getItem(KEPT) ?? 'null') as { at: number; picture: string } | null;
      if (!kept || last) return;
      await draw(asBlob(kept.picture));
      seenAt = kept.at;
      tell();
    } catch {
      // Nothing is kept that can be read.
    }
  }

  /** Nothing that was seen may be shown any more. */
  function forget(): void {
    canvas.width = 0;
    last = undefined;
    seenAt = 0;
    try {
      localStorage.removeItem(KEPT);
    } catch {
      // Storage may be refused; nothing is in it then.
    }
  }

  /** Shows the next or the previous screen of the clock; a page with a screen of its own stays there. */
  async function step(direction: 'next' | 'previous'): Promise<void> {
    if (screen !== null) return;
    failure = '';
    try {
      const answer = await send(at(`/api/screen/${direction}`), {
        method: 'POST',
        headers: signed(),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!answer.ok) failure = words.refused.replace('{why}', await reason(answer));
    } catch {
      failure = words.unreachable;
    }
    tell();
    clearTimeout(failureTimer);
    if (failure)
      failureTimer = setTimeout(() => {
        failure = '';
        tell();
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

  /** Once a minute: moves the picture against burn-in, and looks for what no event tells, such as the time of day. */
  function everyMinute(): void {
    const { x, y } = isClear ? { x: 0, y: 0 } : shifted(Math.floor(Date.now() / 60_000));
    canvas.style.transform = `translate(${x / devicePixelRatio}px, ${y / devicePixelRatio}px)`;
    if (state.kind === 'live') void look();
    keep();
    setTimeout(everyMinute, 60_000 - (Date.now() % 60_000) + 50);
  }

  const stream = new EventStream('/events', { state: streamed, frame: happened }, { ...browserWorld, fetch: send });

  let idle = 0;
  function moved(): void {
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
  addEventListener('pointermove', moved);
  addEventListener('online', () => stream.retryNow());
  // Somebody signed in on the page of the clock, in another tab.
  addEventListener('storage', () => state.kind === 'locked' && location.reload());
  addEventListener('pagehide', keep);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible') return;
    void stayAwake();
    if (state.kind !== 'locked') stream.retryNow();
  });
  setInterval(() => state.kind === 'away' && tell(), 1_000);

  new ResizeObserver(() => {
    const { width, height } = canvas.getBoundingClientRect();
    size = { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) };
    if (state.kind === 'live') void look();
  }).observe(canvas);

  moved();
  everyMinute();
  void stayAwake();
  stream.start();
  if ('serviceWorker' in navigator && import.meta.env.PROD)
    void navigator.serviceWorker.register(at('/sw.js')).catch(() => {});
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
