/** Why the LEDs stay dark. */
import type { Status } from './types';

/** Why the LEDs are dark whatever their colours, and what ends it; empty if they are not. */
export function muted({ ledsMuted, dnd }: Pick<Status, 'ledsMuted' | 'dnd'>): string {
  if (ledsMuted === 'disableLeds') return 'The LEDs are switched off in the settings.';
  if (ledsMuted !== 'dnd') return '';
  return dnd.enabled
    ? 'Do Not Disturb keeps the LEDs dark.'
    : `The LEDs are dark in the quiet hours, until ${dnd.endTime}.`;
}
