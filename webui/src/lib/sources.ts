/** Where the clock's data comes from, in words. */
import { n, t } from './words';
import { ago, brief } from './age';
import type { SourceStatus, Status } from './documents.gen';

export interface SourceLine {
  /** Its name in the status; empty for what cannot be tried alone. */
  id: string;
  name: string;
  up: boolean;
  /** It has been heard in this run. */
  heard: boolean;
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
  peers: n('Peers'),
  node: n('Your node'),
};

/** Whether a source is an exchange that is asked beside others. */
export const isVenue = (id: string) => !(id in NAMES);

/** What a source is called. */
export function nameOfSource(id: string): string {
  return t(NAMES[id] ?? id.charAt(0).toUpperCase() + id.slice(1));
}

/** The sources of a status and the owner's broker, so many seconds after it was told. */
export function sourceLines(status: Status, since: number): SourceLine[] {
  const lines = Object.entries(status.sources).map(([id, source]) => lineOf(id, nameOfSource(id), source, since));
  if (!status.mqtt) return lines;
  return [...lines, brokerLine(status.mqtt, since)];
}

function brokerLine({ ageSec: _, ...broker }: SourceStatus, since: number): SourceLine {
  // The age is not shown: a broker sends only what clients publish.
  const line = lineOf('mqtt', t('MQTT broker'), broker, since);
  // What is wrong although it is connected stands there too.
  return { ...line, error: sentence(broker.lastError ?? '') };
}

/** The proxy has no timer of its own: it is tried with the next source. */
function proxyLine(proxy: SourceStatus, sources: readonly SourceStatus[], since: number): SourceLine {
  const tries = sources.flatMap(({ up, nextTrySec }) => (up || nextTrySec === undefined ? [] : [nextTrySec]));
  const next = tries.length > 0 ? { nextTrySec: Math.min(...tries) } : {};
  return lineOf('', t('Proxy'), { ...proxy, ...next }, since);
}

/** Sources by the setting that switches them on. */
const SOURCES: Record<string, string> = {
  nwcEnabled: 'wallet',
  miningPoolStats: 'pool',
  minerEnabled: 'miner',
  nodeKind: 'node',
};

/** Settings that switch a connection on. */
export const CONNECTED: readonly string[] = [...Object.keys(SOURCES), 'mqttEnabled', 'proxyEnabled'];

/** The connection that a setting switches on; null while there is none. */
export function connectionOf(key: string, status: Status, since: number): SourceLine | null {
  if (key === 'mqttEnabled') return status.mqtt ? brokerLine(status.mqtt, since) : null;
  if (key === 'proxyEnabled')
    return status.proxy ? proxyLine(status.proxy, Object.values(status.sources), since) : null;
  const id = SOURCES[key] ?? '';
  const source = status.sources[id];
  return source ? lineOf(id, nameOfSource(id), source, since) : null;
}

function lineOf(id: string, name: string, source: SourceStatus, since: number): SourceLine {
  return {
    id,
    name,
    up: source.up,
    heard: source.ageSec !== undefined,
    state: stateOf(source, since),
    error: source.up ? '' : sentence(source.lastError ?? ''),
    next: source.up ? '' : nextTry(source, since),
    dropped: Object.entries(source.dropped ?? {}).map(
      ([reason, count]) => `${count} × ${t(reason).replace(/-/g, ' ')}`,
    ),
  };
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
