/**
 * Translation of the page.
 *
 * The English text is the key. `lang` has one file per other language with the translations by English text; the page
 * loads one of them. A text without a translation is shown in English.
 */

import type { Phrase } from './documents.gen';

/** Placeholder for a quoted text, such as an error of the operating system. */
const QUOTED = 'why';

type Words = Readonly<Record<string, string>>;

const FILES = import.meta.glob<{ default: Words }>('../lang/*.json');

/** Codes of all languages. */
export const LANGUAGES: readonly string[] = ['en', ...Object.keys(FILES).map((file) => file.slice(8, -5))];

const STORED = 'papertick-language';

let words: Words = {};
let code = 'en';

/** The language that is in use. */
export function language(): string {
  return code;
}

/** A text in that language; `{name}` is a placeholder for a value, and numbers are localized. */
export function t(english: string, values?: Readonly<Record<string, string | number>>): string {
  const text = words[english] ?? english;
  const filled = (value: string | number = '') => (typeof value === 'number' ? localized(value) : value);
  return values ? text.replace(/\{(\w+)\}/g, (_, name: string) => filled(values[name])) : text;
}

/** A list in that language, such as `one, two and three`. */
export function listed(parts: readonly string[]): string {
  return new Intl.ListFormat(code).format(parts);
}

/** A number in that language, with all its decimals; what follows the number in a text is kept. */
export function localized(value: number | string): string {
  return String(value).replace(/^-?\d+(\.\d+)?/, (number, decimals: string = '.') =>
    Number(number).toLocaleString(code, { minimumFractionDigits: decimals.length - 1, maximumFractionDigits: 20 }),
  );
}

/** A sentence of the clock in that language, with localized numbers and without the quoted text. */
export function spoken({ words, values }: Phrase): string {
  const filled = ([gap, value]: [string, Phrase['values'][string]]) => {
    if (typeof value === 'string') return [gap, gap === QUOTED ? '' : value];
    if ('words' in value) return [gap, spoken(value)];
    return [gap, localized(value.number)];
  };
  return t(words, Object.fromEntries(Object.entries(values).map(filled)));
}

/** The English text that a sentence of the clock quotes at its end; empty if there is none. */
export function quoted({ values }: Phrase): string {
  const quoteIn = ([gap, value]: [string, Phrase['values'][string]]) =>
    typeof value === 'string' ? gap === QUOTED && value : 'words' in value && quoted(value);
  return Object.entries(values).map(quoteIn).find(Boolean) || '';
}

/** Marks a text for translation; `t` translates it when it is shown. */
export function n<Text extends string>(english: Text): Text {
  return english;
}

/** The first available language of a list of preferences such as `de-AT`. */
export function chosen(preferences: readonly string[], available: readonly string[] = LANGUAGES): string {
  const codes = preferences.map((preference) => preference.slice(0, 2).toLowerCase());
  return codes.find((code) => available.includes(code)) ?? 'en';
}

/** Loads the translations for the chosen language, else for the preferences of the browser. */
export async function fetchWords(): Promise<void> {
  code = chosen([stored(), ...navigator.languages]);
  words = (await FILES[`../lang/${code}.json`]?.())?.default ?? {};
  document.documentElement.lang = code;
}

/** Stores another language and reloads the page. */
export function choose(language: string): void {
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // Storage may be disabled; the preferences of the browser are used then.
  }
  location.reload();
}

function stored(): string {
  try {
    return localStorage.getItem(STORED) ?? '';
  } catch {
    return '';
  }
}
