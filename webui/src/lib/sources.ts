/** State of the data sources and connections, as texts. */
import { n, t } from './words';
import { ago, brief } from './age';
import type { SourceStatus, Status } from './documents.gen';

export interface SourceLine {
  /** Key in the status; empty if it cannot be restarted alone. */
  id: string;
  name: string;
  up: boolean;
  /** The source has sent data since the last start of the clock. */
  hasData: boolean;
  /** State, such as `3 min ago` or `silent for 2 h`. */
  state: string;
  /** Why the source is down; empty if it is up or the reason is unknown. */
  error: string;
  /** Time of the next attempt; empty if the source is up or the time is unknown. */
  next: string;
  /** Number and reason of dropped messages. */
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

/** True for an exchange that is a price witness. */
export const isVenue = (id: string) => !(id in NAMES);

/** Name of a source. */
export function nameOfSource(id: string): string {
  return t(NAMES[id] ?? id.charAt(0).toUpperCase() + id.slice(1));
}

/** The sources of a status and the MQTT broker; `since` is the age of the status, s. */
export function sourceLines(status: Status, since: number): SourceLine[] {
  const lines = Object.entries(status.sources).map(([id, source]) => lineOf(id, nameOfSource(id), source, since));
  if (!status.mqtt) return lines;
  return [...lines, brokerLine(status.mqtt, since)];
}

function brokerLine({ ageSec: _, ...broker }: SourceStatus, since: number): SourceLine {
  // The age is not shown: a broker forwards only messages that clients publish.
  const line = lineOf('mqtt', t('MQTT broker'), broker, since);
  // A connected broker can have an error too.
  return { ...line, error: sentence(broker.lastError ?? '') };
}

/** The proxy has no retry timer of its own: the next attempt of a source uses it. */
function proxyLine(proxy: SourceStatus, sources: readonly SourceStatus[], since: number): SourceLine {
  const tries = sources.flatMap(({ up, nextTrySec }) => (up || nextTrySec === undefined ? [] : [nextTrySec]));
  const next = tries.length > 0 ? { nextTrySec: Math.min(...tries) } : {};
  return lineOf('', t('Proxy'), { ...proxy, ...next }, since);
}

/** Sources by the setting that enables them. */
const SOURCES: Record<string, string> = {
  nwcEnabled: 'wallet',
  miningPoolStats: 'pool',
  minerEnabled: 'miner',
  nodeKind: 'node',
};

/** Settings that enable a connection. */
export const CONNECTED: readonly string[] = [...Object.keys(SOURCES), 'mqttEnabled', 'proxyEnabled'];

/** The connection that a setting enables; null if the status has none. */
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
    hasData: source.ageSec !== undefined,
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
  return left > 0 ? t('Next try in {time}.', { time: brief(left) }) : t('Trying now.');
}

function sentence(text: string): string {
  if (text === '') return '';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
