import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = join(import.meta.dirname, '../../dist');
const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((file) =>
  statSync(join(DIST, file)).isFile(),
);
const bytes = (file) => readFileSync(join(DIST, file));

/** What the first view needs, with its English texts, compressed bytes. */
const FIRST_MOST = 56 * 1024;
/** All views, with their English texts, compressed bytes. */
const PAGE_MOST = 100 * 1024;
/** The full screen page, compressed bytes. */
const GLASS_MOST = 8 * 1024;
/** One translation, compressed bytes; a visit loads at most one. */
const LANGUAGE_MOST = 24 * 1024;

/** Size of a file in a response, bytes. */
function sent(file) {
  const plain = bytes(file);
  return Math.min(plain.length, gzipSync(plain, { level: 9 }).length);
}

/** The scripts and styles that an HTML file names. */
function named(file) {
  const html = bytes(file).toString();
  return [...html.matchAll(/assets\/[^"]+/g)].map(([name]) => name);
}

const sum = (some) => some.map(sent).reduce((all, length) => all + length, 0);
/** Files that a visit loads: browsers load icons only when the page is installed. */
const visited = files.filter((file) => !/^icon-|^(assets\/)?glass[.-]/.test(file));
const glass = files.filter((file) => /^(assets\/)?glass[.-]/.test(file));
const languages = visited.filter((file) => /\/[a-z]{2}-[^/]*\.js$/.test(file));
const first = visited.filter((file) => !languages.includes(file) && !/^assets\/(later|Movement)-/.test(file));

test('the page stays below its size limits', () => {
  expect(languages.length).toBe(3);
  for (const language of languages) expect(sum([language]), language).toBeLessThanOrEqual(LANGUAGE_MOST);
  expect(sum(first)).toBeLessThanOrEqual(FIRST_MOST);
  expect(sum(visited) - sum(languages)).toBeLessThanOrEqual(PAGE_MOST);
  // The first view needs exactly the scripts and styles that the page names.
  expect(named('index.html').sort()).toEqual(first.filter((file) => file.startsWith('assets/')).sort());
});

test('the full screen page is small, and shares no files with the main page', () => {
  expect(sum(glass)).toBeLessThanOrEqual(GLASS_MOST);
  expect(glass).toEqual(expect.arrayContaining(named('glass.html')));
  const script = named('glass.html').find((name) => name.endsWith('.js'));
  expect(bytes(script).toString()).not.toMatch(/\bimport\b/);
});

test.each(['app', 'glass'])('the icons of an installed page exist in the declared size: %s', (name) => {
  const { icons } = JSON.parse(bytes(`${name}.webmanifest`).toString());
  expect(icons.map(({ sizes }) => sizes)).toEqual(['any', '192x192', '512x512']);
  for (const { src, sizes, type } of icons) {
    expect(files).toContain(src);
    if (type !== 'image/png') continue;
    // Width and height of a PNG are in its first chunk.
    const head = bytes(src).subarray(16, 24);
    expect(`${head.readUInt32BE(0)}x${head.readUInt32BE(4)}`, src).toBe(sizes);
  }
});
