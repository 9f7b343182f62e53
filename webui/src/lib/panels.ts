/** Refresh state of the panels as text. */
import { t } from './words';
import { ago } from './age';
import type { PanelStatus } from './documents.gen';

/** Time of the newest paint and most partial refreshes since a full one; undefined if the status has neither. */
export function painted(panels: Pick<PanelStatus, 'ageSec' | 'partials'>[] | undefined): string | undefined {
  const ages = (panels ?? []).flatMap(({ ageSec }) => (ageSec === undefined ? [] : [ageSec]));
  if (!panels || ages.length === 0) return undefined;
  const partials = Math.max(...panels.map(({ partials }) => partials));
  const since = partials === 0 ? t('in full') : t('{count} partial since the last full refresh', { count: partials });
  return t('painted {ago}, {how}', { ago: ago(Math.min(...ages)), how: since });
}
