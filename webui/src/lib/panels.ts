/** Refresh state of the panels as text. */
import { t } from './words';
import { ago } from './age';
import type { PanelStatus } from './documents.gen';

/** Time of the newest paint, most partial refreshes since a full one, and its time; undefined if none was painted. */
export function painted(
  panels: Pick<PanelStatus, 'ageSec' | 'partials' | 'refreshes'>[] | undefined,
): string | undefined {
  const ages = (panels ?? []).flatMap(({ ageSec }) => (ageSec === undefined ? [] : [ageSec]));
  if (!panels || ages.length === 0) return undefined;
  const partials = Math.max(...panels.map(({ partials }) => partials));
  const full = ago(Math.max(...panels.map(({ refreshes }) => refreshes.fullAgeSec ?? 0)));
  const since =
    partials === 0 ? t('in full') : t('{count} partial since the full one {ago}', { count: partials, ago: full });
  return t('painted {ago}, {how}', { ago: ago(Math.min(...ages)), how: since });
}
