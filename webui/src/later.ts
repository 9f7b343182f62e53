/** The parts that the first view does not need; the page loads them together, at the first use of one. */
export { default as CareView } from './ui/CareView.svelte';
export { default as Composer } from './ui/Composer.svelte';
export { default as FirstRun } from './ui/FirstRun.svelte';
export { default as SaveBar } from './ui/SaveBar.svelte';
export { default as SettingsView } from './ui/SettingsView.svelte';
