import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = join(import.meta.dirname, '../../dist');
const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((file) =>
  statSync(join(DIST, file)).isFile(),
);
const bytes = (file) => readFileSync(join(DIST, file));

/** The page with its English texts, bytes as they are sent. */
const PAGE_MOST = 72 * 1024;
/** Another language, of which a visitor loads one, bytes as they are sent. */
const LANGUAGE_MOST = 20 * 1024;

/** Bytes of a file as it travels. */
function sent(file) {
  const packed = `${file}.br`;
  return bytes(files.includes(packed) ? packed : file).length;
}

const sum = (some) => some.map(sent).reduce((all, length) => all + length, 0);
const plain = files.filter((file) => !/\.(br|gz)$/.test(file));
/** Icons are loaded when the page is installed, not by a visit. */
const visited = plain.filter((file) => !/^icon-/.test(file));
const languages = visited.filter((file) => /\/[a-z]{2}-[^/]*\.js$/.test(file));

test('all of the page is small', () => {
  expect(languages.length).toBe(3);
  for (const language of languages) expect(sum([language]), language).toBeLessThanOrEqual(LANGUAGE_MOST);
  expect(sum(visited) - sum(languages)).toBeLessThanOrEqual(PAGE_MOST);
});

test('the compressed forms are those of the files', () => {
  const packed = files.filter((file) => file.endsWith('.br'));
  expect(packed.length).toBeGreaterThan(3);
  for (const file of packed) {
    const plain = file.replace(/\.br$/, '');
    expect(brotliDecompressSync(bytes(file)).equals(bytes(plain)), plain).toBe(true);
    expect(gunzipSync(bytes(`${plain}.gz`)).equals(bytes(plain)), plain).toBe(true);
  }
});

test('the icons of an installed page are there, in the size that they say', () => {
  const { icons } = JSON.parse(bytes('app.webmanifest').toString());
  expect(icons.map(({ sizes }) => sizes)).toEqual(['any', '192x192', '512x512']);
  for (const { src, sizes, type } of icons) {
    expect(files).toContain(src.slice(1));
    if (type !== 'image/png') continue;
    // Width and height of a PNG stand in its first chunk.
    const head = bytes(src.slice(1)).subarray(16, 24);
    expect(`${head.readUInt32BE(0)}x${head.readUInt32BE(4)}`, src).toBe(sizes);
  }
});
