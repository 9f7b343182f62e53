/** Saves the edits of the settings and moves the focus: to the first fault, or to the control beside the button. */
import { tick } from 'svelte';
import { BOARD } from '../lib/board';
import { draft } from './draft.svelte';
import { form } from './form.svelte';
import { route } from './route.svelte';

const CONTROLS = 'input, select, textarea, button';

export async function save(): Promise<void> {
  const beside = document.activeElement?.previousElementSibling?.querySelector<HTMLElement>(CONTROLS);
  const [edited] = Object.keys(draft.edits);
  const fault = await draft.save();
  if (fault !== undefined && !document.querySelector(`[data-key="${fault}"]`)) {
    if (fault === BOARD) route.go('care', 'screens');
    else route.go('settings');
    form.search = '';
  }
  await tick();
  // The button that was pressed is gone after saving.
  if (fault === undefined && document.activeElement !== document.body) return;
  if (fault === undefined && beside?.isConnected) return beside.focus({ preventScroll: true });
  const setting = document.querySelector<HTMLElement>(`[data-key="${fault ?? edited}"]`);
  const more = setting?.closest('details');
  if (more) more.open = true;
  if (fault !== undefined) setting?.scrollIntoView({ block: 'center' });
  setting?.querySelector<HTMLElement>(CONTROLS)?.focus({ preventScroll: true });
}
