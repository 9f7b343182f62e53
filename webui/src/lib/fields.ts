/** What the form shows: the generated table of settings, put into sections with short names. */
import table from '../settings.gen.json';
import type { Settings } from './types';
import { WORDS } from './words';

/** A row of the generated table; absent members do not apply to its control. */
export interface Row {
  key: string;
  label: string;
  help?: string;
  control: string;
  unit?: string;
  min?: number;
  max?: number;
  maxBytes?: number;
  /** What can be chosen. */
  options?: readonly Choice[];
  /** Key of the settings document that holds what can be chosen. */
  choices?: string;
  /** Schemes of a URL. */
  schemes?: readonly string[];
  /** Pools for which the value is a secret. */
  secretForPools?: readonly string[];
  reboot: boolean;
  secret: boolean;
  /** Means nothing on a board without a frontlight. */
  frontlight: boolean;
}

/** Rows under their heading, as the table groups them. */
export interface Group {
  id: string;
  fields: readonly Row[];
}

export interface Choice {
  value: string | number;
  label: string;
}

/** A row as the form shows it. */
export interface Field extends Row {
  help: string;
  section: SectionId;
}

export type SectionId =
  | 'rotation'
  | 'display'
  | 'time'
  | 'data'
  | 'lights'
  | 'frontlight'
  | 'quiet'
  | 'pool'
  | 'miner'
  | 'nostr'
  | 'wallet'
  | 'network'
  | 'proxy'
  | 'access'
  | 'diagnostics';

export const SECTIONS: readonly { id: SectionId; title: string; intro?: string }[] = [
  { id: 'rotation', title: 'Screens' },
  { id: 'display', title: 'Display' },
  { id: 'time', title: 'Time' },
  { id: 'data', title: 'Data' },
  { id: 'lights', title: 'LEDs and buttons' },
  { id: 'frontlight', title: 'Frontlight' },
  { id: 'quiet', title: 'Do Not Disturb' },
  { id: 'pool', title: 'Mining pool' },
  { id: 'miner', title: 'Miner' },
  { id: 'nostr', title: 'Nostr and zaps' },
  { id: 'wallet', title: 'Wallet', intro: 'Nostr Wallet Connect: balance and payments of your wallet.' },
  { id: 'network', title: 'Network' },
  { id: 'proxy', title: 'Proxy' },
  { id: 'access', title: 'Access and updates' },
  { id: 'diagnostics', title: 'Diagnostics' },
];

/** Rows that stand elsewhere than their group says. */
const MOVED: Record<string, SectionId> = {
  actCurrencies: 'rotation',
  stealFocus: 'rotation',
  hideLeadZero: 'time',
  overlaySeconds: 'rotation',
  screens: 'rotation',
  timePerScreen: 'rotation',
};

/** Rows that are no choice of a person: the pause button sets one, the panels always act as the other says. */
export const OMITTED: ReadonlySet<string> = new Set(['timerActive', 'mcapBigChar']);

/** Values of a form, stored or edited. */
export type Read = (key: string) => unknown;

/** Rows that mean nothing unless others have a certain value. */
const NEEDS: Record<string, (read: Read) => boolean> = {
  proxyType: (read) => read('proxyEnabled') === true,
  proxyHost: (read) => read('proxyEnabled') === true,
  proxyPort: (read) => read('proxyEnabled') === true,
  proxyUser: (read) => read('proxyEnabled') === true && proxySignsIn(read),
  proxyPass: (read) => read('proxyEnabled') === true && proxySignsIn(read),
  proxyBypass: (read) => read('proxyEnabled') === true,
  explorerInstance: (read) => read('dataSource') === 1,
  explorerSecure: (read) => read('dataSource') === 1,
  ceEndpoint: (read) => read('dataSource') === 1 || read('dataSource') === 3,
  ceDisableSSL: (read) => read('dataSource') === 1 || read('dataSource') === 3,
  nostrPubKey: (read) => read('dataSource') === 2,
  satsVariant: (read) => read('priceSymMode') === 1,
  miningPoolName: (read) => read('miningPoolStats') === true,
  miningPoolUser: (read) => read('miningPoolStats') === true,
  poolWorker: (read) => read('miningPoolStats') === true,
  poolGlobalStats: (read) => read('miningPoolStats') === true,
  localPoolHost: (read) => read('miningPoolStats') === true && read('miningPoolName') === 'local_public_pool',
  poolPollSec: (read) => read('miningPoolStats') === true,
  poolLogosUrl: (read) => read('miningPoolStats') === true,
  minerHostname: (read) => read('minerEnabled') === true,
  minerPollSec: (read) => read('minerEnabled') === true,
  nostrZapPubkey: (read) => read('nostrZapNotify') === true,
  nostrZapPubkeys: (read) => read('nostrZapNotify') === true,
  scrnRestoreZap: (read) => read('nostrZapNotify') === true,
  ledFlashOnZap: (read) => read('nostrZapNotify') === true,
  nwcUri: (read) => read('nwcEnabled') === true,
  nwcRefreshSecs: (read) => read('nwcEnabled') === true,
  nwcShowNotify: (read) => read('nwcEnabled') === true,
  nwcFlashOnPay: (read) => read('nwcEnabled') === true && read('nwcShowNotify') === true,
  httpAuthUser: (read) => read('httpAuthEnabled') === true,
  httpAuthPass: (read) => read('httpAuthEnabled') === true,
  otaPass: (read) => read('otaEnabled') === true,
  gitReleaseUrl: (read) => read('otaEnabled') === true,
  flFlashOnZap: (read) => read('nostrZapNotify') === true,
  flOffWhenDark: (read) => read('hasLightLevel') === true,
  luxLightToggle: (read) => read('hasLightLevel') === true,
};

function proxySignsIn(read: Read): boolean {
  return read('proxyType') !== 2 && read('proxyType') !== 3;
}

/** Tells whether a field means something at these values. */
export function applies(field: Field, read: Read): boolean {
  if (field.frontlight && read('hasFrontlight') !== true) return false;
  return NEEDS[field.key]?.(read) ?? true;
}

/** All fields, in the order of the table. */
export const FIELDS: readonly Field[] = fieldsOf(table as readonly Group[]);

const ROWS = new Map((table as readonly Group[]).flatMap(({ fields }) => fields.map((row) => [row.key, row])));

export function fieldsOf(groups: readonly Group[]): Field[] {
  return groups.flatMap(({ id, fields }) =>
    fields
      .filter(({ key }) => !OMITTED.has(key))
      .map((row) => {
        const [label, help] = WORDS[row.key] ?? [row.label];
        return { ...row, label, help: help ?? row.help ?? '', section: sectionOf(id, row) };
      }),
  );
}

function sectionOf(group: string, row: Row): SectionId {
  if (MOVED[row.key]) return MOVED[row.key]!;
  if (row.frontlight) return 'frontlight';
  return SECTIONS.some(({ id }) => id === group) ? (group as SectionId) : 'diagnostics';
}

/** Words of a search that all must occur in what stands at a field, or in its key. */
export function matches(field: Field, search: string): boolean {
  const section = SECTIONS.find(({ id }) => id === field.section)?.title ?? '';
  const options = (field.options ?? []).map(({ label }) => label).join(' ');
  const row = ROWS.get(field.key);
  return contains(`${field.label} ${field.key} ${field.help} ${section} ${options} ${row?.label} ${row?.help}`, search);
}

/** Every word of the search occurs in the text. */
export function contains(text: string, search: string): boolean {
  const hay = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word));
}

/** The choices of a field; catalogues are those of the clock. */
export function choices(field: Field, settings: Settings): readonly Choice[] {
  if (field.options) return field.options.map(({ value, label }) => ({ value, label: capital(label) }));
  const catalogue = (settings[field.choices ?? ''] ?? []) as (string | { id: string })[];
  return catalogue.map((entry) => {
    const id = typeof entry === 'string' ? entry : entry.id;
    return { value: id, label: spaced(id) };
  });
}

/** The entries of a list that is written with one on each line. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Tells whether the value of a field is a secret. */
export function isSecret(field: Field, read: Read): boolean {
  return field.secret || (field.secretForPools ?? []).includes(String(read('miningPoolName')));
}

/** An identifier as words: `notoSansBold` and `eu_ckpool` become `Noto Sans Bold` and `Eu Ckpool`. */
export function spaced(id: string): string {
  return id
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[_ ]/)
    .map(capital)
    .join(' ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
