/** The text of a problem report, without secrets and addresses. */
import { long } from './age';
import { titled } from './compose';
import type { LogLine, RemoteDisplay, SourceStatus, Status } from './documents.gen';

/** Most lines of the log in a report. */
export const LOG_LINES = 30;

export interface ReportFacts {
  program: string;
  settings: Readonly<Record<string, unknown>>;
  status: Status;
  log: readonly LogLine[];
  displays: readonly RemoteDisplay[];
}

/** Replaces secrets and addresses. */
const HIDDEN = '[hidden]';

/** Patterns of possible addresses, host names, keys and tokens. */
const SUSPECT: readonly RegExp[] = [
  // URLs.
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi,
  // E-mail and Lightning addresses, and users before a host.
  /[^\s"'<>@]+@[^\s"'<>]+/g,
  // MAC addresses.
  /(?<![\w:-])(?:[0-9a-f]{2}[-.:]?){5}[0-9a-f]{2}(?![\w:-])/gi,
  // IPv6 addresses; a time of day has two colons at most.
  /(?<![\w:])(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}(?:%\w+)?(?![\w:])/gi,
  /(?<![\w:])(?:[0-9a-f]{1,4}:)*[0-9a-f]{0,4}::[0-9a-f:.]*/gi,
  // IPv4 addresses; a version has three numbers.
  /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\w\.)(?:\/\d+|:\d+)?/g,
  // Host names.
  /(?<![\w.-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z](?::\d+)?(?![\w-])/gi,
  // Values after a word such as `password`.
  /(?<=\b(?:password|passphrase|passwd|pass|pw|secret|token|api[-_ ]?key|key|authorization|basic|bearer|ssid|user(?: ?name)?)["']?[\s:=]+)["']?[^\s"',;]+/gi,
  // Keys, hashes and tokens.
  /(?<!\w)(?:npub|nsec|nprofile|nevent|note|lnbc|lnurl|bc|tb|xpub|xprv|ypub|zpub)1?[a-z0-9]{8,}/gi,
  /(?<![\w+/=-])(?=[\w+/=-]*\d)[\w+/=-]{16,}/g,
  // Paths in home folders, which may contain the name of a person.
  /(?<![\w.])\/(?:home|Users|root)\/[^\s"']+/g,
];

/** Shorter values of settings are not replaced, because they occur in many texts by chance, characters. */
const VALUE_MIN = 4;
/** Settings without personal data. */
const PUBLIC_SETTING =
  /^(?:hwRev|gitRev|gitTag|fsRev|fontName|tzString|mqttBase|haPrefix|haStatusTopic|miningPoolName)$/;

/** Settings with the name of a computer or a person, which can be an ordinary short word. */
const NAME_SETTING = /(?:Host|Hostname|User|Worker|ClientId|hostnamePrefix)$/;
/** Of users and of clocks. */
const DEFAULT_NAME = 'papertick';

/** A text with possible secrets, addresses, values of settings and other private texts replaced. */
export function scrubbed(text: string, settings: ReportFacts['settings'], others: readonly string[] = []): string {
  const own = Object.entries(settings).filter(([key]) => !PUBLIC_SETTING.test(key));
  const known = own
    .flatMap(([, value]) => strings(value))
    .filter((value) => value.length >= VALUE_MIN && !/^[a-z]+$/.test(value));
  const without = known
    .sort((one, other) => other.length - one.length)
    .reduce((rest, value) => rest.split(value).join(HIDDEN), text);
  const names = own.filter(([key]) => NAME_SETTING.test(key)).flatMap(([, value]) => strings(value));
  const patterns = [...names, ...others]
    .sort((one, other) => other.length - one.length)
    .filter((name) => name && name !== DEFAULT_NAME)
    .map((name) => new RegExp(`(?<![\\w-])${name.replace(/[^\w-]/g, '\\$&')}(?![\\w-])`, 'gi'));
  return [...patterns, ...SUSPECT].reduce((rest, pattern) => rest.replace(pattern, HIDDEN), without);
}

/** The texts in a value; objects are skipped, because only lists of choices contain them. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];
}

/** Private texts outside the settings: of the network, the displays, and the panels. */
function privateTexts({ settings, status, displays }: ReportFacts): string[] {
  const saved = (settings.keptTexts ?? []) as string[][];
  const texts = status.mode === 'custom' ? [...saved, status.data] : saved;
  return [
    status.link?.ssid ?? '',
    ...displays.flatMap(({ id, name, mac }) => [id, name, mac ?? '']),
    ...texts.flatMap((cells) => [cells.join(''), cells.join(' '), titled(cells), JSON.stringify(cells)]),
  ].map((text) => text.trim());
}

/** The report, in English, for the maintainers of the program. */
export function report(facts: ReportFacts): string {
  const { program, settings, status, log } = facts;
  const others = privateTexts(facts);
  const clean = (text: string) => scrubbed(text, settings, others);
  const source = ([name, { up, ageSec, nextTrySec, lastError, dropped }]: [string, SourceStatus]) => {
    const facts = [
      up ? 'up' : 'down',
      ageSec === undefined ? '' : `last data ${ageSec} s ago`,
      nextTrySec === undefined ? '' : `next try in ${nextTrySec} s`,
      lastError ? `"${clean(lastError)}"` : '',
      dropped ? `dropped ${JSON.stringify(dropped)}` : '',
    ];
    return `- ${name}: ${facts.filter(Boolean).join(', ')}`;
  };
  const sources = Object.entries({ ...status.sources, ...(status.mqtt ? { mqtt: status.mqtt } : {}) });
  const faults = (status.panelFaults ?? []).map(({ panel, fault }) => `panel ${panel + 1} ${fault}`);
  const notes = [status.safeMode ? `safe mode: ${status.safeMode}` : '', ...(status.notes ?? []), ...faults];
  return [
    `papertick ${program}`,
    `Board: ${String(settings.hwRev ?? 'unknown')}`,
    `Running for: ${long(status.espUptime)}`,
    `Shows: ${status.mode ?? 'rotation'}, screen ${status.currentScreen}`,
    `Network: ${status.link ? `${status.link.state}${status.link.failure ? ` (${status.link.failure})` : ''}` : 'unknown'}`,
    ...notes.filter(Boolean).map((note) => `Note: ${clean(note)}`),
    '',
    'Sources:',
    ...(sources.length > 0 ? sources.map(source) : ['- none']),
    '',
    'Log:',
    ...log.slice(-LOG_LINES).map(({ time, level, text }) => `${time.slice(0, 19)} ${level} ${clean(text)}`),
  ].join('\n');
}
