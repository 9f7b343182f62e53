/**
 * The words of the page in the language of whoever reads it.
 *
 * A text is written in English where it is shown, and is its own key: a text that changes has no translation until
 * somebody writes one, and a test says so. A language is one file in `lang`, fetched by those who read it.
 */

import { hash } from './hash';

/** The gap for what somebody else says, such as an operating system. */
const QUOTED = 'why';

/** A language as a build packs it. */
interface Words {
  /** Texts of the sources, in their order. */
  listed?: readonly string[];
  /** Texts that the clock says itself, by a hash of their English. */
  hashed?: Readonly<Record<string, string>>;
}

const FILES = import.meta.glob<{ default: Words }>('../lang/*.json');

/** Codes of all languages. */
export const LANGUAGES: readonly string[] = Object.keys(FILES).map((file) => file.slice(8, -5));

const STORED = 'papertick-language';

let words: Words = {};
let code = 'en';

/** The language that is in use. */
export function language(): string {
  return code;
}

/** A text in that language; `{name}` in it stands for a value. A build has put numbers in place of texts. */
export function t(english: string | number, values?: Readonly<Record<string, string | number>>): string {
  const text = typeof english === 'number' ? words.listed?.[english - 1] : words.hashed?.[hash(english)];
  const told = text ?? String(english);
  return values ? told.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')) : told;
}

/** A sentence of the clock in its parts: English words, and what stands in their gaps. */
export interface Phrase {
  words: string;
  values: Readonly<Record<string, string | Phrase | { number: string }>>;
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

/** Puts the texts of the language into a template that numbers them; none of them holds a sign of markup. */
export function putTexts(template: string): string {
  return template.replace(/\[\[(\d+)\]\]/g, (_, place: string) => t(Number(place)));
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
  words = (await FILES[`../lang/${code}.json`]!()).default;
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
