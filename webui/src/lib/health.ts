/** Whether the clock gets the data that it shows, and what to do where it does not. */
import { t } from './words';
import { long } from './age';
import { isVenue, nameOfSource } from './sources';
import type { Status } from './documents.gen';

/** Sources of blocks, fees and prices; the others only add to them. */
const PRIMARY = ['relay', 'explorer', 'exchange', 'nostr'];

/** A source that is quiet for a shorter time is about to come back, s. */
const GRACE_SECS = 20;

export interface Outage {
  /** What is missing. */
  missing: string;
  /** Why, by source: what the clock says of each, in English; empty where it has said nothing yet. */
  why: { source: string; reason: string }[];
  /** Since when. */
  since: string;
}

/** What a clock lacks that gets no data; null if it gets data. */
export function outage(status: Status): Outage | null {
  const primary = Object.entries(status.sources).filter(([name]) => PRIMARY.includes(name));
  const down = primary.filter(([, { up }]) => !up);
  const quietest = down.map(([, { ageSec }]) => ageSec ?? status.espUptime);
  const lacks = missing(status);
  if (!lacks || down.length === 0 || Math.min(...quietest) < GRACE_SECS) return null;
  const why = down.map(([name, { lastError = '' }]) => ({ source: nameOfSource(name), reason: lastError }));
  const learned = down.flatMap(([, { ageSec }]) => (ageSec === undefined ? [] : [ageSec]));
  return {
    missing: lacks,
    why,
    since: learned.length > 0 ? t('For {time}.', { time: long(Math.min(...learned)) }) : t('Since the clock started.'),
  };
}

/** What comes from nobody; empty where blocks and prices come. */
function missing({ connectionStatus, sources }: Status): string {
  const up = (is: (name: string) => boolean) => Object.entries(sources).some(([name, { up }]) => up && is(name));
  // Who proves blocks tells of them, and who witnesses prices quotes them.
  const blocks = connectionStatus.blocks || up((name) => name === 'peers' || name === 'node');
  const prices = connectionStatus.price || up(isVenue);
  if (blocks) return prices ? '' : t('No prices arrive.');
  return prices ? t('No blocks and fees arrive.') : t('No blocks, fees and prices arrive.');
}
