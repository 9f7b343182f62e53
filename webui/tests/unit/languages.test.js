import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chosen, LANGUAGES, quoted, spoken, t } from '../../src/lib/words';

const ROOT = join(import.meta.dirname, '../..');
const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const dictionary = (language) => JSON.parse(read(`src/lang/${language}.json`));
const translated = LANGUAGES.filter((language) => language !== 'en');

/** The text of all files with one of these endings in a folder. */
function sources(folder, endings) {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => endings.test(file))
    .map((file) => read(join(folder, file)))
    .join('\n');
}

/** The texts in the code of the page: arguments of `t('…')` and `n('…')`. */
function ofPage() {
  const found = sources('src', /\.(ts|svelte)$/).matchAll(/\b[tn]\(\s*(['"])((?:\\.|(?!\1).)*)\1/g);
  return [...found].map(([, , text]) => text.replace(/\\(.)/g, '$1'));
}

/** The texts of the table of settings, with the names of the screens. */
function ofSettings() {
  const choices = (some = []) => some.map(({ label }) => label);
  return JSON.parse(read('src/settings.gen.json')).flatMap(({ heading, fields }) => [
    heading,
    ...fields.flatMap(({ key, label, help, search, options, labels, names }) => [
      ...[label, help, search, ...choices(options), ...choices(labels)],
      ...(key === 'screens' ? Object.values(names) : []),
    ]),
  ]);
}

/** The sentences with which the clock describes its panels. */
function ofClock() {
  const templates = sources('../crates/device/src', /\.rs$/).matchAll(/SentenceTemplate::new\(\s*"([^"]+)"/g);
  return [...templates].map(([, text]) => text);
}

/** The sentences with which the clock rejects a certificate or a key. */
function ofPem() {
  const kinds = read('../crates/device/src/settings/kinds/pem.rs').matchAll(/\bwhat: "([^"]+)"/g);
  return [...kinds].map(([, what]) => `takes ${what} in PEM form`);
}

const texts = [...new Set([...ofPage(), ...ofSettings(), ...ofClock(), ...ofPem()])].filter((text = '') =>
  /[a-z]/i.test(text.replace(/\{\w+\}/g, '')),
);
const gaps = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join();

test('the page has English, German, Dutch and Spanish', () => {
  expect([...LANGUAGES].sort()).toEqual(['de', 'en', 'es', 'nl']);
  expect(texts.length).toBeGreaterThan(600);
});

test.each(translated)('%s: missing and unused translations are listed', (language) => {
  const words = dictionary(language);
  const code = sources('src', /\.(ts|svelte|gen\.json)$/) + sources('../crates', /\.rs$/);
  const missing = texts.filter((text) => !words[text]);
  const unused = Object.keys(words).filter((text) => !texts.includes(text) && !code.includes(text));
  if (missing.length > 0) console.warn(`${language} lacks ${missing.length}:\n- ${missing.join('\n- ')}`);
  if (unused.length > 0) console.warn(`${language} has ${unused.length} unused:\n- ${unused.join('\n- ')}`);
});

test.each(translated)('%s has the same placeholders as the English text', (language) => {
  const lost = Object.entries(dictionary(language)).filter(([english, text]) => gaps(english) !== gaps(text));
  expect(lost).toEqual([]);
});

test('a text without a translation stays English', () => {
  expect(t('An untranslated {what}.', { what: 'text' })).toBe('An untranslated text.');
});

test('a nested sentence of the clock is formatted with its parts', () => {
  const days = { words: '{count} days', values: { count: { number: '1234.5' } } };
  expect(spoken({ words: '{days}, then {pool}.', values: { days, pool: '7{x}' } })).toBe('1,234.5 days, then 7{x}.');
});

test('the quoted text of a sentence is returned separately', () => {
  const trouble = { words: 'The releases could not be checked: {why}', values: { why: 'connection refused.' } };
  const both = { words: '{sentence} {mark}', values: { sentence: { words: 'Sure.', values: {} }, mark: trouble } };
  expect([spoken(both), quoted(both)]).toEqual(['Sure. The releases could not be checked: ', 'connection refused.']);
  const waits = { words: 'No data so far: {why}', values: { why: { words: 'no answer yet.', values: {} } } };
  expect([spoken(waits), quoted(waits)]).toEqual(['No data so far: no answer yet.', '']);
});

test('the placeholder for a quoted text is at the end in every language', () => {
  const sentences = ofClock().filter((text) => text.includes('{why}'));
  expect(sentences.length).toBeGreaterThan(2);
  for (const language of translated) {
    const words = dictionary(language);
    expect(sentences.filter((text) => !(words[text] ?? text).endsWith('{why}'))).toEqual([]);
  }
});

test.each([
  [['de-AT', 'en'], 'de'],
  [['fr-FR', 'nl'], 'nl'],
  [['', 'ES'], 'es'],
  [['fr'], 'en'],
  [[], 'en'],
])('the preferences %j select %s', (preferences, language) => {
  expect(chosen(preferences)).toBe(language);
});

test('placeholders are replaced by values', () => {
  expect(t('{age} ago', { age: '3 min' })).toBe('3 min ago');
  expect(t('At most {max}.', {})).toBe('At most .');
});
