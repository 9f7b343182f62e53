/**
 * The full screen page: the live clock on a whole screen. `?screen=` shows another screen than the clock, `?dark` white
 * on black, `?transparent` only the ink, and `?layout=` another layout than the one chosen on this device.
 *
 * The same address without `live` is a picture that a `Refresh` header reloads, for browsers without modules.
 */
import type { ErrorBody, Status } from '../lib/documents.gen';
import { asBlob, asText, glassKey, removeSnapshots } from '../lib/snapshot';
import { at, ofThisClock } from '../lib/root';
import { authHeaders, encoded, STORED, useAuthorization } from '../lib/credentials';
import { panelsKey, valuesKey } from '../lib/picture';
import type { Frame } from '../lib/sse';
import { browserEnvironment, EventStream, type StreamState } from '../lib/stream';
import './glass.css';
import { changedSquares, pictureQuery, shiftAt, SQUARE, type Size } from './frame';
import { aged, language, words } from './words';

/** Least time between two requests for a picture, ms. */
const GAP_MS = 250;
const TIMEOUT_MS = 10_000;
/** Time without movement after which the cursor is hidden, ms. */
const IDLE_MS = 1_000;
/** How long a failure of a tap is shown, ms. */
const FAILURE_MS = 4_000;
/** How long the menu stays open without a use, ms. */
const MENU_MS = 30_000;
/** Longest stored picture, as a data URL, characters. */
const STORED_PICTURE_MAX = 1024 * 1024;
/** Storage key of the layout chosen on this device. */
const STORED_LAYOUT = ofThisClock('papertick-layout');
/** Layouts in the menu. */
const LAYOUTS = ['figure', 'board', 'cells'] as const;

const query = new URLSearchParams(location.search);
if (isCapable()) {
  if (query.has('live')) start();
  else afterStill(() => location.replace(`${location.search}${location.search ? '&' : '?'}live${location.hash}`));
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

/** Calls a function when the still picture is loaded, so that its load is not aborted. */
function afterStill(then: () => void): void {
  const still = document.querySelector('img');
  if (!still || still.complete) return then();
  still.addEventListener('load', then);
  still.addEventListener('error', then);
}

function start(): void {
  // The address may contain the user name and password, for a kiosk without a keyboard.
  const { username, password } = new URL(document.baseURI);
  if (username || password) useAuthorization(encoded(decodeURIComponent(username), decodeURIComponent(password)));

  const root = document.documentElement;
  const isClear = query.has('transparent');
  const screen = query.get('screen');
  const dark = query.has('dark') ? !['false', '0'].includes(query.get('dark') ?? '') : isClear ? false : undefined;
  /** Layout of the picture; null for the default. */
  let layout = query.get('layout') ?? storedLayout();
  const isCells = () => layout !== null && !['auto', 'figure', 'board'].includes(layout);
  /** True if the picture follows the screen of the clock; a board shows its own ones. */
  const isFollowing = () => screen === null && layout !== 'board';
  const storageKey = () => glassKey(screen, layout, dark, isClear);

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
  const menu = document.createElement('div');
  menu.className = 'menu';
  menu.setAttribute('role', 'dialog');
  menu.setAttribute('aria-label', words.menu);
  menu.hidden = true;
  // Visible only while it has the focus; a tap on the picture does the same.
  const opener = button(words.menu, openMenu);
  opener.className = 'opener';
  main.append(canvas, message, opener, menu);
  document.body.replaceChildren(main);

  /** Size of the canvas in pixels of the device. */
  let size: Size = { width: 0, height: 0 };
  /** The pixels on the canvas. */
  let shown: ImageData | undefined;
  let state: StreamState = { kind: 'connecting' };
  /** Time at which the picture was last known to be current, ms; 0 before the first one. */
  let seenAt = 0;
  /** Number of calls of `clear`: a picture that was requested before the last call must not be shown. */
  let cleared = 0;
  let last: { address: string; storageKey: string; tag: string | null; picture: string } | undefined;
  let isFetching = false;
  let isWanted = false;
  /** What the picture depends on besides the time. Empty if the last fetch failed; undefined until the first status of a connection. */
  let version: string | undefined;
  /** The newest status shows a layer above the rotation. */
  let isLayer = false;
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
    const address = at(`/api/frame.png?${pictureQuery(size, { screen, dark, layout })}`);
    const key = storageKey();
    const known = last?.address === address && last.tag;
    const before = cleared;
    // The response may be read hours after it arrived, because the device slept.
    const requestedAt = Date.now();
    try {
      const response = await send(address, {
        headers: { ...authHeaders(), ...(known && { 'If-None-Match': known }) },
        cache: 'no-store',
        signal: abortSignal(TIMEOUT_MS),
      });
      if (response.ok) {
        const blob = await response.blob();
        const picture = await asText(blob);
        const bitmap = await createImageBitmap(blob);
        if (cleared === before) {
          draw(bitmap);
          last = { address, storageKey: key, tag: response.headers.get('etag'), picture };
          seenAt = requestedAt;
        }
        bitmap.close();
      } else if (response.status === 304) {
        if (cleared === before) seenAt = Math.max(seenAt, requestedAt);
      } else if (response.status !== 401) {
        refusal = words.refused.replace('{why}', await reason(response));
        version = '';
        return;
      }
      refusal = '';
    } catch {
      // The stream notices a lost connection; the picture is fetched again when it is back, or with the next status.
      version = '';
    }
  }

  function draw(bitmap: ImageBitmap): void {
    const { width, height } = bitmap;
    // A new size clears the canvas.
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [width, height];
    const copier = copy.getContext('2d', { willReadFrequently: true });
    const pen = canvas.getContext('2d');
    if (!pen || !copier) return;
    copier.drawImage(bitmap, 0, 0);
    const image = copier.getImageData(0, 0, width, height);
    if (isClear) {
      // The darker (on a dark picture, the lighter) a pixel is, the more of it is ink.
      const { data } = image;
      const ink = dark ? 255 : 0;
      for (let place = 0; place < data.length; place += 4) {
        data[place + 3] = Math.abs(data[place]! - (255 - ink));
        data[place] = data[place + 1] = data[place + 2] = ink;
      }
      copier.putImageData(image, 0, 0);
    }
    // Electronic paper flashes where it is repainted.
    for (const [x, y] of changedSquares(shown, image)) {
      pen.clearRect(x, y, SQUARE, SQUARE);
      pen.drawImage(copy, x, y, SQUARE, SQUARE, x, y, SQUARE, SQUARE);
    }
    shown = image;
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
    else version = undefined;
    if (state.kind === 'away' && !last) void restore();
    if (state.kind === 'locked') clear();
    showMessage();
  }

  function onEvent({ name, data }: Frame): void {
    // Layers such as the debug view change on the panels without a change of the status.
    if (name === 'panels' && isLayer && screen === null) void refresh();
    if (name !== 'status') return;
    const status = JSON.parse(data) as Status;
    root.classList.toggle('dark', dark ?? status.epdInverted);
    root.classList.toggle('quiet', status.dnd.active && !isClear);
    if (screen === null) canvas.setAttribute('aria-label', status.says);
    isLayer = status.mode !== 'rotation';
    const before = version;
    // Another screen or layout than that of the clock may depend on any value; the clock answers 304 if its picture is
    // the same.
    version = screen === null && isCells() ? panelsKey(status) : valuesKey(status);
    if (before !== undefined && before !== version) void refresh();
  }

  /** Stores the picture for a page that is loaded while the clock is unreachable. */
  function store(): void {
    if (!last || last.picture.length > STORED_PICTURE_MAX) return;
    try {
      localStorage.setItem(last.storageKey, JSON.stringify({ at: seenAt, picture: last.picture }));
    } catch {
      // Storage may be disabled or full; the page stays empty then.
    }
  }

  /** Shows the stored picture. */
  async function restore(): Promise<void> {
    const before = cleared;
    try {
      const stored = JSON.parse(localStorage.getItem(storageKey()) ?? 'null') as { at: number; picture: string } | null;
      if (!stored || last) return;
      const bitmap = await createImageBitmap(asBlob(stored.picture));
      if (!last && cleared === before) {
        draw(bitmap);
        seenAt = stored.at;
      }
      bitmap.close();
      showMessage();
    } catch {
      // The stored picture is invalid.
    }
  }

  /** Clears the picture and removes the stored ones. */
  function clear(): void {
    cleared += 1;
    canvas.width = 0;
    shown = last = undefined;
    seenAt = 0;
    removeSnapshots();
  }

  /** Shows the next or previous screen of the clock, if the picture follows it. */
  async function step(direction: 'next' | 'previous'): Promise<void> {
    if (!isFollowing()) return;
    failure = '';
    try {
      const response = await send(at(`/api/screen/${direction}`), {
        method: 'POST',
        headers: authHeaders(),
        signal: abortSignal(TIMEOUT_MS),
      });
      if (!response.ok) failure = words.refused.replace('{why}', await reason(response));
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

  function openMenu(): void {
    const full = document.fullscreenEnabled ? [button(words.full, () => void toggleFullScreen())] : [];
    const next = isFollowing() ? [button(words.next, () => void step('next'), true)] : [];
    const shown = isCells() ? 'cells' : layout === 'board' ? layout : 'figure';
    const layouts = LAYOUTS.map((name) => {
      const item = button(words[name], () => choose(name));
      item.setAttribute('aria-pressed', String(name === shown));
      return item;
    });
    menu.replaceChildren(...next, ...layouts, ...full);
    menu.hidden = false;
    menu.querySelector('button')?.focus();
    closeLater();
  }

  let menuTimer = 0;
  function closeLater(): void {
    clearTimeout(menuTimer);
    menuTimer = setTimeout(closeMenu, MENU_MS);
  }

  function closeMenu(): void {
    clearTimeout(menuTimer);
    menu.hidden = true;
  }

  function toggleMenu(): void {
    if (menu.hidden) openMenu();
    else closeMenu();
  }

  /** Moves the focus in the menu; it continues at the other end. */
  function moveFocus(by: 1 | -1): void {
    const items = [...menu.querySelectorAll('button')];
    const place = items.findIndex((item) => item === document.activeElement);
    items[(place + by + items.length) % items.length]?.focus();
    closeLater();
  }

  /** A button; a click closes the menu unless `stays`. */
  function button(text: string, act: () => void, stays = false): HTMLButtonElement {
    const item = document.createElement('button');
    item.type = 'button';
    item.textContent = text;
    item.addEventListener('click', () => {
      if (stays) closeLater();
      else closeMenu();
      act();
    });
    return item;
  }

  /** Shows another layout, also the next time on this device. */
  function choose(name: string): void {
    layout = name;
    try {
      localStorage.setItem(STORED_LAYOUT, name);
    } catch {
      // Storage may be disabled; the layout is lost with the page then.
    }
    if (query.has('layout')) {
      query.set('layout', name);
      history.replaceState(null, '', `?${query}${location.hash}`);
    }
    void refresh();
  }

  async function toggleFullScreen(): Promise<void> {
    try {
      await (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen());
    } catch {
      // An iframe or the browser may forbid it.
    }
  }

  /** Keeps the screen on. Browsers offer this only over TLS and on localhost, and end it in the background. */
  async function stayAwake(): Promise<void> {
    try {
      if (document.visibilityState === 'visible') await navigator.wakeLock?.request('screen');
    } catch {
      // The browser may reject the request, for example if the battery is low.
    }
  }

  /** Once a minute: shifts the picture against burn-in, and refreshes it, because the time of day sends no event. */
  function everyMinute(): void {
    const { x, y } = isClear ? { x: 0, y: 0 } : shiftAt(Math.floor(Date.now() / 60_000));
    canvas.style.transform = `translate(${x / devicePixelRatio}px, ${y / devicePixelRatio}px)`;
    if (state.kind === 'live') void refresh();
    store();
    setTimeout(everyMinute, 60_000 - (Date.now() % 60_000) + 50);
  }

  const stream = new EventStream(
    '/events',
    { state: onStreamState, frame: onEvent },
    { ...browserEnvironment, fetch: send },
  );

  let idle = 0;
  function onPointerMove(): void {
    root.classList.remove('idle');
    clearTimeout(idle);
    idle = setTimeout(() => root.classList.add('idle'), IDLE_MS);
  }

  addEventListener('click', (event) => {
    if ((event.target as Element).closest('a, button')) return;
    toggleMenu();
  });
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') return closeMenu();
    // A focused control handles these keys itself.
    if ([' ', 'Enter'].includes(event.key) && (event.target as Element).closest('a, button')) return;
    const isBack = ['ArrowLeft', 'ArrowUp'].includes(event.key);
    const isArrow = isBack || ['ArrowRight', 'ArrowDown'].includes(event.key);
    if (isArrow && !menu.hidden) moveFocus(isBack ? -1 : 1);
    else if (isBack) void step('previous');
    else if (isArrow || [' ', 'Enter'].includes(event.key)) void step('next');
    else if (event.key === 'm') toggleMenu();
    else if (event.key === 'f') void toggleFullScreen();
    else return;
    event.preventDefault();
  });
  addEventListener('pointermove', onPointerMove);
  addEventListener('online', () => stream.retryNow());
  // The main page signs in and out in another tab.
  addEventListener('storage', ({ key }) => {
    if (key !== STORED) return;
    // Otherwise `pagehide` would store the picture again.
    clear();
    location.reload();
  });
  addEventListener('pagehide', store);
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

/** The layout chosen on this device; null if there is none. */
function storedLayout(): string | null {
  try {
    return localStorage.getItem(STORED_LAYOUT);
  } catch {
    return null;
  }
}

/** A signal that aborts a request after a timeout; `AbortSignal.timeout` is missing before Safari 16 and Chrome 103. */
function abortSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), ms);
  return controller.signal;
}

/** Sends a request. The URL is built from the origin, because `fetch` rejects URLs with a password. */
function send(path: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  return fetch(new URL(String(path), location.origin), init);
}

async function reason(response: Response): Promise<string> {
  try {
    return ((await response.json()) as ErrorBody).error;
  } catch {
    return String(response.status);
  }
}
