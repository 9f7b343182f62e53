/** The reason why the LEDs are muted. */
import { t } from './words';
import type { Status } from './documents.gen';

/** Why the LEDs are muted, and until when if that is known; empty if they are not muted. */
export function muted({ ledsMuted, dnd }: Pick<Status, 'ledsMuted' | 'dnd'>): string {
  if (ledsMuted === 'disableLeds') return t('The LEDs are switched off in the settings.');
  if (ledsMuted !== 'dnd') return '';
  return dnd.enabled
    ? t('Do Not Disturb keeps the LEDs dark.')
    : t('The LEDs are dark in the quiet hours, until {time}.', { time: dnd.endTime });
}
