/** Where the clock's data comes from, in words. */
import type { SourceStatus, Status } from './types';

export interface SourceLine {
  name: string;
  up: boolean;
  /** Time since it last said something of use, s. */
  age: number | null;
  /** Why it is down, or when it is tried again. */
  note: string;
  /** What it sent that was of no use: how often, and why. */
  dropped: string[];
}

const NAMES: Record<string, string> = {
  relay: 'Relay',
  explorer: 'Block explorer',
  exchange: 'Exchange',
  nostr: 'Nostr data',
  zaps: 'Zaps',
  wallet: 'Wallet',
  pool: 'Mining pool',
  miner: 'Miner',
};

/** What a source is called. */
export function nameOfSource(id: string): string {
  return NAMES[id] ?? id;
}

/** The sources of a status. */
export function sourceLines(status: Status): SourceLine[] {
  return Object.entries(status.sources).map(([id, source]) => ({
    name: nameOfSource(id),
    up: source.up,
    age: source.ageSec ?? null,
    note: source.up ? '' : whyDown(source),
    dropped: Object.entries(source.dropped ?? {}).map(([reason, count]) => `${count} × ${reason.replace(/-/g, ' ')}`),
  }));
}

function whyDown({ lastError, nextTrySec }: SourceStatus): string {
  const next = nextTrySec === undefined ? '' : `next try in ${nextTrySec} s`;
  return [lastError, next].filter(Boolean).join('; ');
}
