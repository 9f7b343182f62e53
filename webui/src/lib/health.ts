/** Detects that the clock receives no blocks or prices, and explains why. */
import { t } from './words';
import { long } from './age';
import { isVenue, nameOfSource } from './sources';
import type { Status } from './documents.gen';

/** Main sources of blocks, fees and prices. */
const PRIMARY = ['relay', 'explorer', 'exchange', 'nostr'];

/** A source that has been silent for a shorter time is not reported, because most reconnect soon, s. */
const GRACE_SECS = 20;

export interface Outage {
  /** A sentence about the missing data. */
  missing: string;
  /** The last error of each source, in English; empty if there is none. */
  why: { source: string; reason: string }[];
  /** Since when. */
  since: string;
}

/** The current outage; null if data arrives. */
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

/** A sentence about data that no source delivers; empty if blocks and prices arrive. */
function missing({ connectionStatus, sources }: Status): string {
  const up = (is: (name: string) => boolean) => Object.entries(sources).some(([name, { up }]) => up && is(name));
  // Peers and the own node deliver blocks as well, and price witnesses deliver prices.
  const blocks = connectionStatus.blocks || up((name) => name === 'peers' || name === 'node');
  const prices = connectionStatus.price || up(isVenue);
  if (blocks) return prices ? '' : t('No prices arrive.');
  return prices ? t('No blocks and fees arrive.') : t('No blocks, fees and prices arrive.');
}
