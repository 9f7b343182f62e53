/** Fields of the settings form, from the generated table of settings. */
import table from '../settings.gen.json';
import type { Settings } from './types';
import { t } from './words';

/** A row of the generated table; members that do not apply are absent. */
export interface Row {
  key: string;
  label: string;
  help?: string;
  control: string;
  unit?: string;
  /** Additional search words. */
  search?: string;
  min?: number;
  max?: number;
  maxBytes?: number;
  /** An inverted switch: true is shown as off. */
  mute?: boolean;
  /** Value on a new clock. */
  default?: unknown;
  /** Fixed choices. */
  options?: readonly Choice[];
  /** Key of the list of choices in the settings document. */
  choices?: string;
  /** Allowed schemes of a URL. */
  schemes?: readonly string[];
  /** Pools for which the value is a secret. */
  secretForPools?: readonly string[];
  /** Conditions that must all hold for the setting to have an effect. */
  needs?: readonly Need[];
  /** Shown behind "More". */
  more?: boolean;
  /** Display names of the choices, by id. */
  names?: Readonly<Record<string, string>>;
  /** Labels that replace `label`, by pool. */
  labels?: readonly Choice[];
  reboot: boolean;
  secret: boolean;
}

/** A condition: a key of the settings document, and the values that meet the condition. */
export interface Need {
  key: string;
  in: readonly unknown[];
}

/** Rows under one heading. */
export interface Group {
  id: string;
  heading: string;
  fields: readonly Row[];
}

export interface Choice {
  value: string | number;
  label: string;
}

/** A row as the form shows it. */
export interface Field extends Row {
  help: string;
  section: string;
}

const GROUPS = table as readonly Group[];

export const SECTIONS = GROUPS.map(({ id, heading }) => ({ id, title: t(heading) }));

/** Values of a form, stored or edited. */
export type Read = (key: string) => unknown;

/** True if a field has an effect with these values. */
export function applies(field: Field, read: Read): boolean {
  return (field.needs ?? []).every((need) => need.in.includes(read(need.key)));
}

/** True if a field can have an effect on this machine with some values of the other settings. */
export function isPossible(field: Field, read: Read): boolean {
  const facts = (field.needs ?? []).filter(({ key }) => FIELDS.every((other) => other.key !== key));
  return applies({ ...field, needs: facts }, read);
}

/** Keys whose default is an example, such as a public server, and not a choice of the owner. */
const EXAMPLES: readonly string[] = ['ceEndpoint'];

/** True if a value is the example from the defaults. */
export function isExample(field: Field, read: Read): boolean {
  return EXAMPLES.includes(field.key) && read(field.key) === field.default;
}

/** All fields, in the order of the table. */
export const FIELDS: readonly Field[] = GROUPS.flatMap(({ id, fields }) => fields.map((row) => fieldOf(row, id)));

/** A row with translated texts; the English search words stay searchable. */
function fieldOf({ options, labels, search, ...row }: Row, section: string): Field {
  const choice = ({ value, label }: Choice) => ({ value, label: t(label) });
  return {
    ...row,
    label: t(row.label),
    help: t(row.help ?? ''),
    section,
    ...(search && { search: `${t(search)} ${search}` }),
    ...(options && { options: options.map(choice) }),
    ...(labels && { labels: labels.map(choice) }),
  };
}

/** Sections of settings that change the picture on the panels; the form shows them first. */
export const VISUAL_SECTIONS = ['rotation', 'display', 'time'];

/** The edits that change the picture on the panels. */
export function visualEdits(edits: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isVisual = ([key]: [string, unknown]) =>
    FIELDS.some((field) => field.key === key && VISUAL_SECTIONS.includes(field.section));
  return Object.fromEntries(Object.entries(edits).filter(isVisual));
}

/** True if every search word occurs in the texts or the key of a field. */
export function matches(field: Field, search: string): boolean {
  const section = SECTIONS.find(({ id }) => id === field.section)?.title ?? '';
  const options = (field.options ?? []).map(({ label }) => label).join(' ');
  const key = `${field.key} ${field.key.replace(/([a-z])([A-Z])/g, '$1 $2')}`;
  return contains(`${field.label} ${key} ${field.help} ${section} ${options} ${field.search ?? ''}`, search);
}

/** Short search words match only the beginning of a word, because they occur inside many words by chance. */
const SHORT = /^[\p{L}\p{N}]{1,3}$/u;

/** True if every search word, or its singular, occurs in the text. */
export function contains(text: string, search: string): boolean {
  const hay = text.toLowerCase();
  const begins = hay.split(/[^\p{L}\p{N}]+/u);
  // `fullscreen` and `wifi` are found as `full screen` and `Wi-Fi`.
  const joined = begins.join('');
  const occurs = (word: string) =>
    SHORT.test(word) ? begins.some((other) => other.startsWith(word)) : hay.includes(word) || joined.includes(word);
  const words = search.toLowerCase().split(/\s+/);
  return words.every((word) => occurs(word) || (/...s$/.test(word) && occurs(word.slice(0, -1))));
}

/** The choices of a field: its fixed options, or a list in the settings document. */
export function choices(
  { options, choices, names }: Pick<Field, 'options' | 'choices' | 'names'>,
  settings: Settings,
): readonly Choice[] {
  if (options) return options.map(({ value, label }) => ({ value, label: capital(label) }));
  const catalogue = (settings[choices ?? ''] ?? []) as (string | { id: string })[];
  return catalogue.map((entry) => {
    const id = typeof entry === 'string' ? entry : entry.id;
    return { value: id, label: names?.[id] ?? spaced(id) };
  });
}

/** The entries of a list with one entry per line. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** True if the value of a field is a secret. */
export function isSecret(field: Field, read: Read): boolean {
  return field.secret || (field.secretForPools ?? []).includes(String(read('miningPoolName')));
}

/** Label of a field with these values. */
export function labelOf({ label, labels }: Field, read: Read): string {
  return labels?.find(({ value }) => value === read('miningPoolName'))?.label ?? label;
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
