/** Validation errors of settings, found by the page before it saves or reported by the clock. */
import { n, t } from './words';
import type { Edits } from './draft';
import { shown } from './draft';
import { isExample, type Field } from './fields';
import { characters } from './text';
import type { ScreenEntry, Settings } from './types';

/** A validation error and the key of its field; an empty key means no particular field. */
export interface Fault {
  key: string;
  text: string;
}

const REASONS: Record<string, string> = {
  bad_type: n('This value has the wrong format or is too long.'),
  bad_length: n('This is empty, too short or too long.'),
  bad_hex: n('This must be empty, 64 hexadecimal digits or an npub.'),
  bad_scheme: n('The address starts with a scheme that is not allowed here.'),
  unknown: n('The clock does not know this value.'),
  not_string: n('Every currency must be a code such as USD.'),
  range: n('This is not a valid time.'),
  screen_off: n('A screen on the board is switched off. Remove it.'),
  currency_not_active: n('A screen on the board has a currency that the clock does not use. Choose another one.'),
};

/** A public key as hex or npub; the clock verifies the checksum of an npub. */
const KEY = /^([0-9a-fA-F]{64}|npub1[02-9ac-hj-np-z]{58}|NPUB1[02-9AC-HJ-NP-Z]{58})$/;

/** Value of `dataSource` for a relay of the owner's own. */
export const OWN_RELAY = 3;

/** Keys of fields by their names in error tokens, where these differ. */
const TOKEN_KEYS: Record<string, string> = { currency: 'actCurrencies' };

/** Parses the error token of a rejected PATCH; of a wrong text the sentence in `hint` says more. */
export function faultOf(token: string, fields: readonly Field[], hint = ''): Fault {
  const [left = '', right = ''] = token.split(':', 2);
  if (left === 'range') {
    const field = fields.find(({ key }) => key === right);
    return { key: right, text: field ? rangeText(field) : t('This number is out of range.') };
  }
  if (right === '') {
    return { key: '', text: t('The clock refused: {why}', { why: token || '?' }) };
  }
  const label = fields.find(({ key }) => key === (TOKEN_KEYS[left] ?? left))?.label;
  const none = right === 'unknown' && label ? t('There is no such {what}.', { what: label.toLowerCase() }) : undefined;
  const known = none ?? (REASONS[right] ? t(REASONS[right]) : t('The clock refused: {why}', { why: right }));
  // The hint begins with the name of the setting.
  const sentence = hint.slice(left.length + 1);
  const text =
    hint && right === 'bad_type'
      ? t('The clock reports: {hint}.', { hint: hint.replace(sentence, t(sentence)) })
      : known;
  return { key: TOKEN_KEYS[left] ?? left, text };
}

/** A fault for each password that the clock cleared, parsed from “a and b were cleared, because …”. */
export function clearedIn(reason: string): Fault[] {
  const names = /^(.+?) (?:was|were) cleared\b/.exec(reason)?.[1]?.split(' and ') ?? [];
  const text = t('This was cleared, because it belongs to another server. Enter it again.');
  return names.map((key) => ({ key, text }));
}

/** Faults of the edits that the page finds without a request. */
export function faults(settings: Settings, edits: Edits, fields: readonly Field[]): Fault[] {
  const found: Fault[] = [];
  for (const field of fields) {
    if (!(field.key in edits)) continue;
    const text = faultIn(field, edits[field.key]);
    if (text) found.push({ key: field.key, text });
  }
  const read = (key: string) => shown(settings, edits, key);
  const password = edits.httpAuthPass ?? (settings.httpAuthPassSet === true ? 'set' : '');
  if (read('httpAuthEnabled') === true && password === '' && ('httpAuthEnabled' in edits || 'httpAuthPass' in edits)) {
    found.push({ key: 'httpAuthPass', text: t('Choose a password. Sign-in is impossible without one.') });
  }
  const relay = fields.find(({ key }) => key === 'ceEndpoint');
  const lacksHost = !read('ceEndpoint') || (relay && isExample(relay, read));
  if (read('dataSource') === OWN_RELAY && lacksHost && ('dataSource' in edits || 'ceEndpoint' in edits)) {
    found.push({ key: 'ceEndpoint', text: t('A relay of your own needs a host.') });
  }
  if (read('proxyEnabled') === true && read('proxyHost') === '') {
    found.push({ key: 'proxyHost', text: t('A proxy needs a host.') });
  }
  if (read('mqttEnabled') === true && read('mqttHost') === '') {
    found.push({ key: 'mqttHost', text: t('A broker needs a host, such as 192.168.1.20 or broker.local.') });
  }
  if (read('proxyEnabled') === true && read('proxyType') === 0) {
    found.push({ key: 'proxyType', text: t('Choose which kind of proxy it is, or turn the proxy off.') });
  }
  return found;
}

function faultIn(field: Field, value: unknown): string {
  if (['number', 'slider', 'minutes'].includes(field.control)) {
    const whole = field.control === 'minutes' || Number.isInteger(value);
    const fits =
      typeof value === 'number' && whole && value >= (field.min ?? -Infinity) && value <= (field.max ?? Infinity);
    return fits ? '' : rangeText(field);
  }
  if (Array.isArray(value)) {
    if (field.control !== 'urls' && field.control !== 'keys') return '';
    if (value.length > (field.max ?? Infinity)) return t('At most {max}.', { max: field.max ?? 0 });
    for (const entry of value) {
      const fault = faultIn(field, entry);
      if (fault) return `${String(entry)}: ${fault}`;
    }
    return '';
  }
  if (typeof value !== 'string' || value === '') return '';
  if (field.maxBytes && new TextEncoder().encode(value).length > field.maxBytes)
    return t('This is longer than {max} bytes.', { max: field.maxBytes });
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) return t('This contains characters that cannot be displayed.');
  if ((field.control === 'key' || field.control === 'keys') && !KEY.test(value)) return t(REASONS.bad_hex!);
  if (field.schemes && !field.schemes.some((scheme) => value.startsWith(`${scheme}://`))) {
    return t('The address must start with {schemes}.', {
      schemes: field.schemes.map((scheme) => `${scheme}://`).join(' / '),
    });
  }
  return '';
}

function rangeText({ control, min, max }: Field): string {
  if (min === undefined || max === undefined) return t('This number is out of range.');
  return control === 'minutes'
    ? t('A number from {min} to {max}.', { min, max })
    : t('A whole number from {min} to {max}.', { min, max });
}

/** Passwords with fewer characters get a warning. */
const STRONG_PASSWORD_LENGTH = 12;

/** Warnings about valid edits that may be mistakes; they do not prevent saving. */
export function advice(settings: Settings, edits: Edits): Fault[] {
  const found: Fault[] = [];
  const screens = edits.screens as readonly ScreenEntry[] | undefined;
  if (screens?.every(({ enabled }) => !enabled)) {
    found.push({ key: 'screens', text: t('No screen is left in the rotation: the clock stays on the one it shows.') });
  }
  const prefix = edits.hostnamePrefix;
  if (typeof prefix === 'string') {
    const name = hostname(prefix, String(settings.hostname ?? ''));
    if (!name.startsWith(`${prefix}-`))
      found.push({ key: 'hostnamePrefix', text: t('On the network the clock is called {name}.', { name }) });
  }
  for (const key of ['httpAuthPass', 'otaPass']) {
    const password = edits[key];
    if (typeof password !== 'string' || password === '') continue;
    const word = weakness(password, String(shown(settings, edits, 'httpAuthUser') ?? ''));
    if (word) found.push({ key, text: word });
  }
  return found;
}

/** Longest host name, characters. */
const HOSTNAME_MAX = 63;

/** The host name that the clock makes of a prefix; its end is that of the current name. */
function hostname(prefix: string, current: string): string {
  const suffix = current.slice(current.lastIndexOf('-') + 1);
  const label = prefix.replace(/[^a-z0-9]/giu, '-').slice(0, HOSTNAME_MAX - 1 - suffix.length);
  return `${label.replace(/^-+|-+$/g, '') || 'papertick'}-${suffix}`;
}

function weakness(password: string, user: string): string {
  const plain = password.toLowerCase();
  if (plain === user.toLowerCase() || plain.includes('papertick')) return t('This password is easy to guess.');
  if (/^(.)\1*$/.test(password) || /^\d+$/.test(password))
    return t('Only digits or one repeated character are easy to guess.');
  return characters(password).length < STRONG_PASSWORD_LENGTH
    ? t('Weak: {count} characters or more are hard to guess.', { count: STRONG_PASSWORD_LENGTH })
    : '';
}
