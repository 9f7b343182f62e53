/** The newest values of the market, in words. */
import { n, t } from './words';
import { nameOfSource } from './sources';
import type { Datum, Status } from './types';

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
    value: written(id, datum),
    age: datum.ageSec ?? null,
    earlierRun: datum.earlierRun ?? false,
    source: nameOfSource(datum.source),
  }));
}

function written(id: string, datum: Datum): string {
  const [whole = '', decimals] = String(datum.value).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '\u2009');
  const number = decimals === undefined ? grouped : `${grouped}.${decimals}`;
  return id === 'feeRate' ? `${number} sat/vB` : number;
}
