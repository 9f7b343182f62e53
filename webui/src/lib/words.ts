/**
 * The texts of the page in the language of the person who reads it.
 *
 * A text is written in English where it is shown, and is its own key. `lang` has one file per other language, with the
 * translations by English text; the page loads one of them. A text without a translation stays English.
 */

import type { Phrase } from './documents.gen';

/** The gap for what somebody else says, such as an operating system. */
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

/** A text in that language; `{name}` in it stands for a value. */
export function t(english: string, values?: Readonly<Record<string, string | number>>): string {
  const text = words[english] ?? english;
  return values ? text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')) : text;
}

/** A sentence of the clock in that language, its numbers as people there write them; without what it quotes. */
export function spoken({ words, values }: Phrase): string {
  const told = ([gap, value]: [string, Phrase['values'][string]]) => {
    if (typeof value === 'string') return [gap, gap === QUOTED ? '' : value];
    if ('words' in value) return [gap, spoken(value)];
    return [gap, Number(value.number).toLocaleString(code, { maximumFractionDigits: 20 })];
  };
  return t(words, Object.fromEntries(Object.entries(values).map(told)));
}

/** What a sentence of the clock quotes, which stands at its end, in English; empty if nothing. */
export function quoted({ values }: Phrase): string {
  const said = ([gap, value]: [string, Phrase['values'][string]]) =>
    typeof value === 'string' ? gap === QUOTED && value : 'words' in value && quoted(value);
  return Object.entries(values).map(said).find(Boolean) || '';
}

/** Marks a text that is translated where it is shown. */
export function n<Text extends string>(english: Text): Text {
  return english;
}

/** The first of some wishes, such as `de-AT`, that there is a language for. */
export function chosen(wishes: readonly string[], there: readonly string[] = LANGUAGES): string {
  const found = wishes.map((wish) => wish.slice(0, 2).toLowerCase()).find((wish) => there.includes(wish));
  return found ?? 'en';
}

/** Fetches the words that this browser asks for, or its owner has chosen. */
export async function fetchWords(): Promise<void> {
  code = chosen([kept(), ...navigator.languages]);
  words = (await FILES[`../lang/${code}.json`]?.())?.default ?? {};
  document.documentElement.lang = code;
}

/** Uses another language from now on; every text is written anew. */
export function choose(wish: string): void {
  try {
    localStorage.setItem(STORED, wish);
  } catch {
    // Storage may be refused; the browser's wish counts then.
  }
  location.reload();
}

function kept(): string {
  try {
    return localStorage.getItem(STORED) ?? '';
  } catch {
    return '';
  }
}
