/** Whether the clock gets the data that it shows, and what to do where it does not. */
import { t } from './words';
import { long } from './age';
import { nameOfSource } from './sources';
import type { Status } from './types';

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

/** What a clock lacks that gets no data; null of one that gets some. */
export function outage(status: Status): Outage | null {
  // What another clock shares stands in for all of them.
  if (status.sources.shared?.up) return null;
  const all = Object.entries(status.sources);
  const own = all.filter(([name]) => PRIMARY.includes(name));
  const primary = own.length > 0 ? own : all.filter(([name]) => name === 'shared');
  const down = primary.filter(([, { up }]) => !up);
  const quietest = down.map(([, { ageSec }]) => ageSec ?? status.espUptime);
  if (down.length === 0 || Math.min(...quietest) < GRACE_SECS) return null;
  const why = down.map(([name, { lastError = '' }]) => ({ source: nameOfSource(name), reason: lastError }));
  const learned = down.flatMap(([, { ageSec }]) => (ageSec === undefined ? [] : [ageSec]));
  return {
    missing: missing(status),
    why,
    since: learned.length > 0 ? t('For {time}.', { time: long(Math.min(...learned)) }) : t('Since the clock started.'),
  };
}

function missing({ connectionStatus: { price, blocks } }: Status): string {
  if (!price && !blocks) return t('No blocks, fees and prices arrive.');
  return price ? t('No blocks and fees arrive.') : t('No prices arrive.');
}
