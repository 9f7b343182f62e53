/** Saves the edits of the settings and moves the focus: to the first fault, or back to the row that was saved. */
import { tick } from 'svelte';
import { draft } from './draft.svelte';
import { form } from './form.svelte';
import { route } from './route.svelte';

export async function save(): Promise<void> {
  const edited = document.activeElement?.closest<HTMLElement>('[data-key]')?.dataset.key ?? Object.keys(draft.edits)[0];
  const fault = await draft.save();
  if (fault !== undefined) {
    route.go('settings');
    form.search = '';
  }
  await tick();
  // The button that was pressed is gone after saving.
  if (fault === undefined && document.activeElement !== document.body) return;
  const setting = document.querySelector<HTMLElement>(`[data-key="${fault ?? edited}"]`);
  const more = setting?.closest('details');
  if (more) more.open = true;
  if (fault !== undefined) setting?.scrollIntoView({ block: 'center' });
  setting?.querySelector<HTMLElement>('input, select, textarea, button')?.focus({ preventScroll: true });
}
