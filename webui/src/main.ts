import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';
import { clock } from './state/clock.svelte';
import { now } from './state/now.svelte';
import { route } from './state/route.svelte';

const target = document.getElementById('app');
if (!target) throw new Error('the page has no place for the app');
route.start();
now.start();
mount(App, { target });
clock.start();
