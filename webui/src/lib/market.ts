/** The newest values of the market, in words. */
import { n, t } from './words';
import { nameOfSource } from './sources';
import type { Status } from './documents.gen';

export interface MarketLine {
  /** Its name in the status; a price has that of its currency. */
  id: string;
  name: string;
  value: string;
  /** Time since the value was learned, s. */
  age: number | null;
  earlierRun: boolean;
  /** Who said so. */
  source: string;
}

/** Names of values that are no prices. */
const NAMES: Record<string, string> = {
  height: n('Block'),
  feeRate: n('Fee rate'),
  poolHashrate: n('Hashrate'),
  poolEarnings: n('Earnings a day'),
  poolWorkers: n('Workers'),
  minerHashrate: n('Hashrate'),
  minerBest: n('Best difficulty'),
  walletBalance: n('Balance'),
};

const UNITS: Record<string, string> = { feeRate: ' sat/vB', poolEarnings: ' sats', walletBalance: ' sats' };

/** The values of a status and what its owner's sources say, in the order in which the clock tells them. */
export function marketLines({ market, figures }: Status): MarketLine[] {
  return Object.entries({ ...market, ...figures }).map(([id, { value, ageSec, earlierRun, source }]) => ({
    id,
    name: t(NAMES[id] ?? id),
    value: valueOf(id, value) + (UNITS[id] ?? ''),
    age: ageSec ?? null,
    earlierRun: earlierRun ?? false,
    source: nameOfSource(source),
  }));
}

/** A value as it is shown, without its unit; a price has as many decimals as its currency. */
export function valueOf(id: string, value: number | string): string {
  if (id.endsWith('Hashrate')) return hashrate(String(value));
  return grouped(isWhole(id) ? Math.round(Number(value)) : value);
}

/** Whether a currency has no smaller unit, as the yen. */
function isWhole(id: string): boolean {
  if (!/^[A-Z]{3}$/.test(id)) return false;
  return new Intl.NumberFormat('en', { style: 'currency', currency: id }).resolvedOptions().maximumFractionDigits === 0;
}

/** So many hashes per second with the largest prefix that leaves a whole. */
function hashrate(hashes: string): string {
  const power = Math.min(Math.floor((hashes.length - 1) / 3), PREFIXES.length);
  // Rounded up it might be a thousand of them.
  return `${Math.trunc(Number(hashes) / 10 ** (3 * power - 2)) / 100} ${PREFIXES.charAt(power - 1)}H/s`;
}

/** Each is a thousand of the one before. */
const PREFIXES = 'kMGTPEZ';

/** A number with its thousands apart. */
export function grouped(value: number | string): string {
  const [whole = '', decimals] = String(value).split('.');
  const number = whole.replace(/\B(?=(\d{3})+$)/g, '\u2009');
  return decimals === undefined ? number : `${number}.${decimals}`;
}
