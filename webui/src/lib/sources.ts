/** Where the clock's data comes from, in words. */
import type { SourceStatus, Status } from './types';

export interface SourceLine {
  name: string;
  up: boolean;
  /** Time since it last said something of use, s. */
  age: number | null;
  /** Why it is down, or when it is tried again. */
  note: string;
}

const FLAGS: Record<string, string> = {
  price: 'Prices',
  blocks: 'Blocks and fees',
  nostr: 'Nostr relay',
  nwc: 'Wallet',
};

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

/** The sources of a status: with ages where the clock tells them, else what its connection flags say. */
export function sourceLines(status: Status): SourceLine[] {
  if (status.sources) {
    return Object.entries(status.sources).map(([id, source]) => ({
      name: NAMES[id] ?? id,
      up: source.up,
      age: source.ageSec ?? null,
      note: source.up ? '' : whyDown(source),
    }));
  }
  const flags = status.connectionStatus;
  return Object.entries(FLAGS)
    .filter(([key]) => key in flags && (key === 'price' || key === 'blocks' || isUp(flags[key])))
    .map(([key, name]) => ({ name, up: isUp(flags[key]), age: null, note: '' }));
}

function whyDown({ lastError, nextTrySec }: SourceStatus): string {
  const next = nextTrySec === undefined ? '' : `next try in ${nextTrySec} s`;
  return [lastError, next].filter(Boolean).join('; ');
}

function isUp(flag: Status['connectionStatus'][string] | undefined): boolean {
  return Array.isArray(flag) ? flag.some((relay) => relay.connected) : flag === true;
}
