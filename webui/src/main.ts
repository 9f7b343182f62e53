import { at } from './lib/root';
import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';
import { fetchWords } from './lib/words';
import { clock } from './state/clock.svelte';
import { now } from './state/now.svelte';
import { route } from './state/route.svelte';

async function start() {
  const target = document.getElementById('app');
  if (!target) throw new Error('the page has no place for the app');
  await fetchWords();
  target.replaceChildren();
  route.start();
  now.start();
  mount(App, { target });
  clock.start();
}

void start();
// Browsers offer service workers only over TLS and on localhost. With one, the page opens while the clock is unreachable.
if ('serviceWorker' in navigator && import.meta.env.PROD)
  void navigator.serviceWorker.register(at('/sw.js')).catch(() => {});
