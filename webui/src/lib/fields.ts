/** What the form shows: the generated table of settings, put into sections with short names. */
import table from '../settings.gen.json';
import type { Settings } from './types';
import { t } from './words';

/** A row of the generated table; absent members do not apply to it. */
export interface Row {
  key: string;
  label: string;
  help?: string;
  control: string;
  unit?: string;
  /** Other words by which people look for it. */
  search?: string;
  min?: number;
  max?: number;
  maxBytes?: number;
  /** A switch whose true is what a person calls off. */
  mute?: boolean;
  /** What a fresh clock has. */
  default?: unknown;
  /** What can be chosen. */
  options?: readonly Choice[];
  /** Key of the settings document that holds what can be chosen. */
  choices?: string;
  /** Schemes of a URL. */
  schemes?: readonly string[];
  /** Pools for which the value is a secret. */
  secretForPools?: readonly string[];
  /** What must all hold for it to mean anything. */
  needs?: readonly Need[];
  /** It stands behind "More". */
  more?: boolean;
  /** What the choices are called by those who offer them. */
  names?: Readonly<Record<string, string>>;
  /** What it is called for each pool. */
  labels?: readonly Choice[];
  reboot: boolean;
  secret: boolean;
}

/** A key of the settings document, and the values of it that will do. */
export interface Need {
  key: string;
  in: readonly unknown[];
}

/** Rows under their heading. */
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

export const SECTIONS: { id: string; title: string }[] = GROUPS.map(({ id, heading }) => ({ id, title: heading }));

/** Values of a form, stored or edited. */
export type Read = (key: string) => unknown;

/** Tells whether a field means something at these values. */
export function applies(field: Field, read: Read): boolean {
  return (field.needs ?? []).every((need) => need.in.includes(read(need.key)));
}

/** Tells whether a field can mean something on this machine, whatever the other settings are. */
export function isPossible(field: Field, read: Read): boolean {
  const facts = (field.needs ?? []).filter(({ key }) => FIELDS.every((other) => other.key !== key));
  return applies({ ...field, needs: facts }, read);
}

/** Keys whose default is somebody else's: it stands there as delivered, and is nobody's choice. */
const EXAMPLES: readonly string[] = ['ceEndpoint'];

/** Tells whether a value only stands there as delivered. */
export function isExample(field: Field, read: Read): boolean {
  return EXAMPLES.includes(field.key) && read(field.key) === field.default;
}

/** All fields, in the order of the table. */
export const FIELDS: Field[] = fieldsOf(GROUPS);

export function fieldsOf(groups: readonly Group[]): Field[] {
  return groups.flatMap(({ id, fields }) => fields.map((row) => ({ ...row, help: row.help ?? '', section: id })));
}

/** Translates them; the English words of the search are found as well. */
export function translateFields(): void {
  const choice = ({ value, label }: Choice) => ({ value, label: t(label) });
  for (const section of SECTIONS) section.title = t(section.title);
  for (const field of FIELDS) {
    field.label = t(field.label);
    field.help = t(field.help);
    if (field.search !== undefined) field.search = `${t(field.search)} ${field.search}`;
    field.options = field.options?.map(choice);
    field.labels = field.labels?.map(choice);
  }
}

/** Sections of what is seen on the panels; they stand first. */
export const SEEN = ['rotation', 'display', 'time'];

/** Those of some edits that are seen on the panels. */
export function seen(edits: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isSeen = ([key]: [string, unknown]) =>
    FIELDS.some((field) => field.key === key && SEEN.includes(field.section));
  return Object.fromEntries(Object.entries(edits).filter(isSeen));
}

/** Words of a search that all must occur in what stands at a field, or in its key. */
export function matches(field: Field, search: string): boolean {
  const section = SECTIONS.find(({ id }) => id === field.section)?.title ?? '';
  const options = (field.options ?? []).map(({ label }) => label).join(' ');
  const key = `${field.key} ${field.key.replace(/([a-z])([A-Z])/g, '$1 $2')}`;
  return contains(`${field.label} ${key} ${field.help} ${section} ${options} ${field.search ?? ''}`, search);
}

/** A word as short as this is looked for at the beginning of words alone: it stands by chance in many others. */
const SHORT = /^[\p{L}\p{N}]{1,3}$/u;

/** Every word of the search occurs in the text, or its singular does. */
export function contains(text: string, search: string): boolean {
  const hay = text.toLowerCase();
  const begins = hay.split(/[^\p{L}\p{N}]+/u);
  const occurs = (word: string) =>
    SHORT.test(word) ? begins.some((other) => other.startsWith(word)) : hay.includes(word);
  const words = search.toLowerCase().split(/\s+/);
  return words.every((word) => occurs(word) || (/...s$/.test(word) && occurs(word.slice(0, -1))));
}

/** The choices of a field; catalogues are those of the clock. */
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

/** What a field is called at these values. */
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
