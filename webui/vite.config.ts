// Builds the page into `dist`, which the program embeds; the same sources give the same bytes.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { hash } from './src/lib/hash';

/** What is text and is sent compressed. */
const TEXT = /\.(css|html|js|svg|webmanifest)$/;

/** Smaller files are not worth a second form, bytes. */
const COMPRESSED_FROM = 512;

/** Puts the compressed forms of every file beside it. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir = 'dist' }) {
      for (const entry of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        if (!TEXT.test(entry)) continue;
        const path = join(dir, entry);
        const plain = readFileSync(path);
        if (plain.length < COMPRESSED_FROM) continue;
        const { BROTLI_PARAM_SIZE_HINT, BROTLI_PARAM_QUALITY, BROTLI_MAX_QUALITY } = constants;
        const params = { [BROTLI_PARAM_QUALITY]: BROTLI_MAX_QUALITY, [BROTLI_PARAM_SIZE_HINT]: plain.length };
        writeFileSync(`${path}.br`, brotliCompressSync(plain, { params }));
        writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }));
      }
    },
  };
}

/** Names each text of a language by its hash, which is shorter than the English text that it stands for. */
function words(): Plugin {
  return {
    name: 'words',
    enforce: 'pre',
    transform(code, id) {
      if (!/\/src\/lang\/\w+\.json$/.test(id)) return null;
      const texts = Object.entries(JSON.parse(code) as Record<string, string>);
      const named = Object.fromEntries(texts.map(([english, text]) => [hash(english), text]));
      return { code: JSON.stringify(named), map: null };
    },
  };
}

export default defineConfig({
  plugins: [svelte({ compilerOptions: { cssHash: ({ name }) => `s-${name}` } }), words(), compressed()],
  base: '/',
  build: {
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/events', '/sim', '/upload', '/manifest.json'].map((path) => [
        path,
        { target: process.env.PAPERTICK_URL ?? 'http://127.0.0.1:8080', changeOrigin: true, ws: true },
      ]),
    ),
  },
  test: { include: ['tests/unit/**/*.test.{js,ts}'] },
});
