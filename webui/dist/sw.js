const PAGE = 'papertick-page';
const ENTRY = '/';
const FILES_MAX = 16;
self.addEventListener('install', (event) => {
self.skipWaiting();
event.waitUntil(caches.open(PAGE).then((cache) => cache.add(ENTRY)));
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
const { request } = event;
const url = new URL(request.url);
if (request.method !== 'GET' || url.origin !== location.origin) return;
if (request.mode === 'navigate' && /^\/((settings|care)(\/.*)?)?$/.test(url.pathname)) {
event.respondWith(newest(event, ENTRY, request));
} else if (url.pathname.startsWith('/assets/')) {
event.respondWith(kept(event, request));
} else if (['/theme.js', '/favicon.svg', '/app.webmanifest'].includes(url.pathname)) {
event.respondWith(newest(event, url.pathname, request));
}
});
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
async function kept(event, request) {
const cache = await caches.open(PAGE);
const before = await cache.match(request);
if (before) return before;
const answer = await fetch(request);
if (answer.ok) event.waitUntil(cache.put(request, answer.clone()).then(() => prune(cache)));
return answer;
}
async function prune(cache) {
const files = (await cache.keys()).filter((request) => new URL(request.url).pathname.startsWith('/assets/'));
await Promise.all(files.slice(0, -FILES_MAX).map((request) => cache.delete(request)));
}