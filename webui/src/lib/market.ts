/** The newest values of the market, in words. */
import { n, t } from './words';
import { nameOfSource } from './sources';
import type { Status } from './types';

export interface MarketLine {
  name: string;
  value: string;
  /** Time since the value was learned, s. */
  age: number | null;
  earlierRun: boolean;
  /** Who said so. */
  source: string;
}

const NAMES: Record<string, string> = { height: n('Block'), feeRate: n('Fee rate') };

/** The values of a status, in the order in which the clock tells them. */
export function marketLines(status: Status): MarketLine[] {
  return Object.entries(status.market ?? {}).map(([id, datum]) => ({
    name: t(NAMES[id] ?? id),
    value: grouped(datum.value) + (id === 'feeRate' ? ' sat/vB' : ''),
    age: datum.ageSec ?? null,
    earlierRun: datum.earlierRun ?? false,
    source: nameOfSource(datum.source),
  }));
}

/** A number with its thousands apart. */
export function grouped(value: number | string): string {
  const [whole = '', decimals] = String(value).split('.');
  const number = whole.replace(/\B(?=(\d{3})+$)/g, '\u2009');
  return decimals === undefined ? number : `${number}.${decimals}`;
}
