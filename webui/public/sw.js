// Caches the files of the page, so that it opens while the clock is unreachable; responses of the API are never cached.
// This file is at the root of the clock, which may be below a path on a host with other clocks.
const ROOT = new URL('./', self.location).pathname;
const PAGE = ROOT === '/' ? 'papertick-page' : `papertick-page${ROOT}`;
/** Most cached files of the page; each build has at most seven, with new names. */
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
    event.respondWith(cacheFirst(event, request));
  } else if (['theme.js', 'favicon.svg', 'app.webmanifest', 'glass.webmanifest'].includes(path)) {
    event.respondWith(networkFirst(event, url.pathname, request));
  }
});

/** The page of a view. Only the page of the root is cached; its addresses are relative to the root. */
async function page(event, path, request) {
  if (!path.includes('/')) return networkFirst(event, ROOT, request);
  try {
    return await fetch(request);
  } catch (failure) {
    const cached = await (await caches.open(PAGE)).match(ROOT);
    if (!cached) throw failure;
    const text = (await cached.text()).replace('<base href="./"', `<base href="${ROOT}"`);
    return new Response(text, { headers: cached.headers });
  }
}

/** The full screen page. Only its live variant is cached, because the other one has a `Refresh` header. */
async function glass(event, url, request) {
  const name = `${ROOT}glass?live`;
  if (url.searchParams.has('live')) return networkFirst(event, name, request);
  try {
    return await fetch(request);
  } catch (failure) {
    const cached = await (await caches.open(PAGE)).match(name);
    if (!cached) throw failure;
    return cached;
  }
}

/** Fetches from the clock; falls back to the cache if the clock is unreachable. */
async function networkFirst(event, name, request) {
  const cache = await caches.open(PAGE);
  try {
    const response = await fetch(request);
    if (response.ok) event.waitUntil(cache.put(name, response.clone()));
    return response;
  } catch (failure) {
    const cached = await cache.match(name);
    if (cached) return cached;
    throw failure;
  }
}

/** Returns a file from the cache if possible: its name contains a hash of its content. */
async function cacheFirst(event, request) {
  const cache = await caches.open(PAGE);
  const cached = await cache.match(request);
  if (cached) return cached;
  const response = await fetch(request);
  if (response.ok) event.waitUntil(cache.put(request, response.clone()).then(() => prune(cache)));
  return response;
}

async function prune(cache) {
  const isFile = (request) => new URL(request.url).pathname.startsWith(`${ROOT}assets/`);
  const files = (await cache.keys()).filter(isFile);
  await Promise.all(files.slice(0, -FILES_MAX).map((request) => cache.delete(request)));
}
