/** What is on the panels, in words for people. */
import { t } from './words';
import { ago } from './age';
import type { PanelStatus } from './documents.gen';

/** When a panel was painted last, and how long the longest wait for a full refresh is; undefined if nobody says. */
export function painted(panels: Pick<PanelStatus, 'ageSec' | 'partials'>[] | undefined): string | undefined {
  const ages = (panels ?? []).flatMap(({ ageSec }) => (ageSec === undefined ? [] : [ageSec]));
  if (!panels || ages.length === 0) return undefined;
  const partials = Math.max(...panels.map(({ partials }) => partials));
  const since = partials === 0 ? t('in full') : t('{count} partial since the last full refresh', { count: partials });
  return t('painted {ago}, {how}', { ago: ago(Math.min(...ages)), how: since });
}
