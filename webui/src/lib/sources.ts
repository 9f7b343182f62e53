/** Where the clock's data comes from, in words. */
import type { Status } from './types';

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
  pool: 'Mining pool',
  miner: 'Miner',
  nostr: 'Nostr relay',
  zaps: 'Zap listener',
  wallet: 'Wallet',
  time: 'Time',
  sntp: 'Time',
};

/** The sources of a status: with ages where the clock tells them, else what its connection flags say. */
export function sourceLines(status: Status): SourceLine[] {
  if (status.sources) {
    return Object.entries(status.sources).map(([id, source]) => {
      const name = source.name ?? id;
      const up = source.up === true;
      let note = '';
      if (!up && source.error) note = source.error;
      if (!up && typeof source.nextTry === 'number') note += `${note ? '; ' : ''}next try in ${Math.max(0, Math.round(source.nextTry))} s`;
      return { name: NAMES[name] ?? name, up, age: source.age ?? null, note };
    });
  }
  const flags = status.connectionStatus;
  return Object.entries(FLAGS)
    .filter(([key]) => key in flags && (key === 'price' || key === 'blocks' || isUp(flags[key])))
    .map(([key, name]) => ({ name, up: isUp(flags[key]), age: null, note: '' }));
}

function isUp(flag: Status['connectionStatus'][string] | undefined): boolean {
  return Array.isArray(flag) ? flag.some((relay) => relay.connected) : flag === true;
}
