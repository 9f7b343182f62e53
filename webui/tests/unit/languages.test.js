import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chosen, quoted, spoken, t } from '../../src/lib/words';
import { hash } from '../../src/lib/hash';
import { saidByClock, texts } from '../../words.build';

const ROOT = join(import.meta.dirname, '../..');
const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const languages = readdirSync(join(ROOT, 'src/lang')).map((file) => file.replace('.json', ''));

/** What is shown in words of the clock: the table of settings, the names of the screens, and what they say. */
function wordsOfTheClock() {
  const groups = JSON.parse(read('src/settings.gen.json'));
  const ofField = ({ label, help, search, options = [] }) => [
    label,
    help,
    search,
    ...options.map(({ label }) => label),
  ];
  const ofSettings = groups.flatMap(({ heading, fields }) => [heading, ...fields.flatMap(ofField)]);
  const said = saidByClock(join(ROOT, '../crates'));
  expect(said).toContain('Block height {height}.');
  expect(said).toContain('Time');
  for (const reason of ['height', 'not-sent', 'too-old', 'too-long', 'shared-type', 'takes certificates in PEM form'])
    expect(said).toContain(reason);
  expect(said.length).toBeGreaterThan(160);
  return [...ofSettings, ...said].filter(Boolean);
}

const all = [...new Set([...texts(join(ROOT, 'src')), ...wordsOfTheClock()])];
const places = (text) => (text.match(/\{\w+\}/g) ?? []).sort();

test('German, Dutch and Spanish are there beside English', () => {
  expect(languages.sort()).toEqual(['de', 'en', 'es', 'nl']);
});

test.each(languages.filter((language) => language !== 'en'))('%s lacks nothing and has nothing stale', (language) => {
  const told = JSON.parse(read(`src/lang/${language}.json`));
  expect(all.filter((text) => !told[text])).toEqual([]);
  expect(Object.keys(told).filter((text) => !all.includes(text))).toEqual([]);
  const lost = Object.entries(told).filter(([english, text]) => String(places(english)) !== String(places(text)));
  expect(lost).toEqual([]);
  // They are put into templates as they stand.
  expect([...all, ...Object.values(told)].filter((text) => /[<>&]/.test(text))).toEqual([]);
});

test('texts of the clock have hashes of their own', () => {
  expect(new Set(all.map(hash)).size).toBe(all.length);
});

test('a sentence of the clock is told in its parts', () => {
  const days = { words: '{count} days', values: { count: { number: '1234.5' } } };
  expect(spoken({ words: '{days}, then {pool}.', values: { days, pool: '7{x}' } })).toBe('1,234.5 days, then 7{x}.');
});

test('what a sentence quotes stands apart', () => {
  const trouble = { words: 'The releases were not looked at: {why}', values: { why: 'connection refused.' } };
  const both = { words: '{sentence} {mark}', values: { sentence: { words: 'Sure.', values: {} }, mark: trouble } };
  expect([spoken(both), quoted(both)]).toEqual(['Sure. The releases were not looked at: ', 'connection refused.']);
  const waits = { words: 'No data so far: {why}', values: { why: { words: 'no answer yet.', values: {} } } };
  expect([spoken(waits), quoted(waits)]).toEqual(['No data so far: no answer yet.', '']);
});

test('it can be put at the end in every language', () => {
  const sentences = wordsOfTheClock().filter((text) => text.includes('{why}'));
  expect(sentences.length).toBeGreaterThan(2);
  for (const language of languages) {
    const told = JSON.parse(read(`src/lang/${language}.json`));
    expect(sentences.filter((text) => !(told[text] ?? text).endsWith('{why}'))).toEqual([]);
  }
});

test.each([
  [['de-AT', 'en'], 'de'],
  [['fr-FR', 'nl'], 'nl'],
  [['', 'ES'], 'es'],
  [['fr'], 'en'],
  [[], 'en'],
])('%j is read in %s', (wishes, language) => {
  expect(chosen(wishes, languages)).toBe(language);
});

test('values stand where their names are', () => {
  expect(t('{age} ago', { age: '3 min' })).toBe('3 min ago');
  expect(t('At most {max}.', {})).toBe('At most .');
});
