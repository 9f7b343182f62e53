import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = join(import.meta.dirname, '../../dist');
const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((file) =>
  statSync(join(DIST, file)).isFile(),
);
const bytes = (file) => readFileSync(join(DIST, file));

/** All of the page as it travels, bytes. */
const MOST = 60 * 1024;

test('all of the page is small', () => {
  const sent = files
    .filter((file) => !/\.(br|gz)$/.test(file))
    .map((file) => {
      const packed = `${file}.br`;
      return bytes(files.includes(packed) ? packed : file).length;
    });
  expect(sent.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(MOST);
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
