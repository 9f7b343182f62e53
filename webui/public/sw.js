// Keeps the page itself, so that it opens while the clock is away; what the clock says is never kept here.
// This file is at the root of the clock, which may be below a path of a host with other clocks.
const ROOT = new URL('./', self.location).pathname;
const PAGE = ROOT === '/' ? 'papertick-page' : `papertick-page${ROOT}`;
/** Files of the page that are kept at most; each build has five, under new names. */
const FILES_MAX = 16;

self.addEventListener('install', (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(PAGE).then((cache) => cache.add(ROOT)));
});

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin || !url.pathname.startsWith(ROOT)) return;
  const path = url.pathname.slice(ROOT.length);
  if (request.mode === 'navigate' && /^((settings|care)(\/.*)?)?$/.test(path)) {
    event.respondWith(page(event, path, request));
  } else if (request.mode === 'navigate' && path === 'glass') {
    event.respondWith(glass(event, url, request));
  } else if (path.startsWith('assets/')) {
    event.respondWith(kept(event, request));
  } else if (['theme.js', 'favicon.svg', 'app.webmanifest', 'glass.webmanifest'].includes(path)) {
    event.respondWith(newest(event, url.pathname, request));
  }
});

/** The page of a view. The one that is kept is that of the root, whose addresses are relative to it. */
async function page(event, path, request) {
  if (!path.includes('/')) return newest(event, ROOT, request);
  try {
    return await fetch(request);
  } catch (failure) {
    const before = await (await caches.open(PAGE)).match(ROOT);
    if (!before) throw failure;
    const text = (await before.text()).replace('<base href="./"', `<base href="${ROOT}"`);
    return new Response(text, { headers: before.headers });
  }
}

/** The full screen page. The one that is kept is the live one, which no header reloads. */
async function glass(event, url, request) {
  const name = `${ROOT}glass?live`;
  if (url.searchParams.has('live')) return newest(event, name, request);
  try {
    return await fetch(request);
  } catch (failure) {
    const before = await (await caches.open(PAGE)).match(name);
    if (!before) throw failure;
    return before;
  }
}

/** What the clock has; what was kept of it where the clock does not answer. */
async function newest(event, name, request) {
  const cache = await caches.open(PAGE);
  try {
    const answer = await fetch(request);
    if (answer.ok) event.waitUntil(cache.put(name, answer.clone()));
    return answer;
  } catch (failure) {
    const before = await cache.match(name);
    if (before) return before;
    throw failure;
  }
}

/** A file whose name tells its content is fetched once. */
async function kept(event, request) {
  const cache = await caches.open(PAGE);
  const before = await cache.match(request);
  if (before) return before;
  const answer = await fetch(request);
  if (answer.ok) event.waitUntil(cache.put(request, answer.clone()).then(() => prune(cache)));
  return answer;
}

async function prune(cache) {
  const isFile = (request) => new URL(request.url).pathname.startsWith(`${ROOT}assets/`);
  const files = (await cache.keys()).filter(isFile);
  await Promise.all(files.slice(0, -FILES_MAX).map((request) => cache.delete(request)));
}
