/** Where the clock's data comes from, in words. */
import { n, t } from './words';
import { ago, brief } from './age';
import type { SourceStatus, Status } from './types';

export interface SourceLine {
  id: string;
  name: string;
  up: boolean;
  /** How it fares, such as `3 min ago` or `silent for 2 h`. */
  state: string;
  /** Why it is down; empty if it is not, or nobody knows. */
  error: string;
  /** When it is tried again; empty if it is not down, or being tried. */
  next: string;
  /** What it sent that was of no use: how often, and why. */
  dropped: string[];
}

const NAMES: Record<string, string> = {
  relay: n('Relay'),
  explorer: n('Block explorer'),
  exchange: n('Exchange'),
  nostr: n('Nostr data'),
  zaps: n('Zaps'),
  wallet: n('Wallet'),
  pool: n('Mining pool'),
  miner: n('Miner'),
};

/** What a source is called. */
export function nameOfSource(id: string): string {
  return t(NAMES[id] ?? id);
}

/** The sources of a status, so many seconds after it was told. */
export function sourceLines(status: Status, since: number): SourceLine[] {
  return Object.entries(status.sources).map(([id, source]) => ({
    id,
    name: nameOfSource(id),
    up: source.up,
    state: stateOf(source, since),
    error: source.up ? '' : sentence(source.lastError ?? ''),
    next: source.up ? '' : nextTry(source, since),
    dropped: Object.entries(source.dropped ?? {}).map(([reason, count]) => `${count} × ${reason.replace(/-/g, ' ')}`),
  }));
}

function stateOf({ up, ageSec }: SourceStatus, since: number): string {
  if (up) return ageSec === undefined ? t('connected') : ago(ageSec + since);
  return ageSec === undefined ? t('not connected') : t('silent for {time}', { time: brief(ageSec + since) });
}

function nextTry({ nextTrySec }: SourceStatus, since: number): string {
  if (nextTrySec === undefined) return '';
  const left = Math.ceil(nextTrySec - since);
  return left > 0 ? t('Next try in {time}.', { time: brief(left) }) : t('Being tried.');
}

function sentence(text: string): string {
  if (text === '') return '';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
