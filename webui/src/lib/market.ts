/** The newest market values as texts. */
import { localized, n, t } from './words';
import { nameOfSource } from './sources';
import type { Status } from './documents.gen';

export interface MarketLine {
  /** Key in the status; the code of the currency for a price. */
  id: string;
  name: string;
  value: string;
  /** Time since the value was received, s; null if unknown. */
  age: number | null;
  /** The value was received before the last start of the clock. */
  earlierRun: boolean;
  /** Name of the source. */
  source: string;
}

/** Names of values other than prices. */
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

/** The market values, the prices in the order of `currencies`, and the figures of pool, miner and wallet. */
export function marketLines({ market, figures }: Status, currencies: readonly string[] = []): MarketLine[] {
  const isPrice = (id: string) => /^[A-Z]{3}$/.test(id);
  const place = (id: string) => (isPrice(id) ? [...currencies, id].indexOf(id) : -1);
  const values = Object.entries(market ?? {}).sort(([one], [other]) => place(one) - place(other));
  return [...values, ...Object.entries(figures ?? {})].map(([id, { value, ageSec, earlierRun, source }]) => ({
    id,
    name: t(NAMES[id] ?? id),
    value: valueOf(id, value) + (UNITS[id] ?? ''),
    age: ageSec ?? null,
    earlierRun: earlierRun ?? false,
    source: nameOfSource(source),
  }));
}

/** A value as text without its unit; a price has as many decimals as its currency. */
export function valueOf(id: string, value: number | string): string {
  if (id.endsWith('Hashrate')) return hashrate(String(value));
  return localized(isWhole(id) ? Math.round(Number(value)) : value);
}

/** True if a currency has no smaller unit, such as the yen. */
function isWhole(id: string): boolean {
  if (!/^[A-Z]{3}$/.test(id)) return false;
  return new Intl.NumberFormat('en', { style: 'currency', currency: id }).resolvedOptions().maximumFractionDigits === 0;
}

/** A hash rate with the largest SI prefix that leaves at least 1. */
function hashrate(hashes: string): string {
  const power = Math.min(Math.floor((hashes.length - 1) / 3), PREFIXES.length);
  // Truncated, because rounding up could give 1000 of a prefix.
  return `${localized(Math.trunc(Number(hashes) / 10 ** (3 * power - 2)) / 100)} ${PREFIXES.charAt(power - 1)}H/s`;
}

/** SI prefixes; each is 1000 times the previous one. */
const PREFIXES = 'kMGTPEZ';
