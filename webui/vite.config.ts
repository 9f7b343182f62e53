// Builds the page into `dist`, which the program embeds; the same sources give the same bytes.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { minify } from 'terser';
import { minifySync, type Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** What is text and is sent compressed. */
const TEXT = /\.(css|html|js|svg|webmanifest)$/;

/** Smaller files are not worth a second form, bytes. */
const COMPRESSED_FROM = 512;

/** Sizes of the blocks in which brotli reads, as powers of two; 0 leaves it to brotli. */
const BLOCKS = [0, 16];

/** Makes the scripts small that are part of no bundle. */
function scripts(): Plugin {
  return {
    name: 'scripts',
    apply: 'build',
    writeBundle({ dir = 'dist' }) {
      for (const file of ['sw.js', 'theme.js']) {
        const path = join(dir, file);
        const { code, errors } = minifySync(file, readFileSync(path, 'utf8'));
        if (errors.length > 0) this.error(`${file}: ${errors[0]!.message}`);
        writeFileSync(path, code);
      }
    },
  };
}

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
        writeFileSync(`${path}.br`, shortest(plain));
        writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }));
      }
    },
  };
}

/** The shortest of the ways in which brotli packs some bytes: which of its modes that is, cannot be told before. */
function shortest(plain: Buffer): Buffer {
  const { BROTLI_MODE_GENERIC, BROTLI_MODE_TEXT, BROTLI_MODE_FONT, BROTLI_MAX_QUALITY } = constants;
  const ways = [BROTLI_MODE_GENERIC, BROTLI_MODE_TEXT, BROTLI_MODE_FONT].flatMap((mode) =>
    BLOCKS.map((block) => ({
      [constants.BROTLI_PARAM_MODE]: mode,
      [constants.BROTLI_PARAM_LGBLOCK]: block,
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    })),
  );
  const packed = ways.map((params) => brotliCompressSync(plain, { params }));
  return packed.reduce((least, other) => (other.length < least.length ? other : least));
}

/** Leaves out of the table of settings what the page takes for granted. */
function table(): Plugin {
  return {
    name: 'table',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/settings.gen.json')) return null;
      const spare = (key: string, value: unknown) =>
        key === 'alias' ||
        ((key === 'reboot' || key === 'secret') && value === false) ||
        (key === 'default' && typeof value !== 'string');
      const kept = (key: string, value: unknown) => (spare(key, value) ? undefined : value);
      return { code: JSON.stringify(JSON.parse(code), kept), map: null };
    },
  };
}

/** What takes over markup that a server made: never done here, and the bundler cannot know. */
const TAKES_OVER = /export let hydrating = false;([^]*?function set_hydrating\(value\) \{)[^}]*\}/;

/** A program that is fetched when it is needed, in the wrapper that has its styles fetched first. */
const WRAPPED = /\b__vitePreload\((\(\) => import\([^)]*\)), ?[^)]*\)/g;

/** Leaves out what libraries have ready for pages of another kind. */
function unused(): Plugin[] {
  return [
    {
      name: 'unused',
      apply: 'build',
      transform(code, id) {
        if (!id.endsWith('/svelte/src/internal/client/dom/hydration.js')) return null;
        if (!TAKES_OVER.test(code)) this.error('the framework says in another way whether it takes over markup');
        return { code: code.replace(TAKES_OVER, 'export const hydrating = false;$1}'), map: null };
      },
    },
    {
      name: 'unwrapped',
      apply: 'build',
      enforce: 'post',
      renderChunk(code) {
        // No program that is fetched later, a language, has styles of its own.
        return code.includes('__vitePreload(') ? { code: code.replace(WRAPPED, '($1)()'), map: null } : null;
      },
    },
  ];
}

/** Writes programs shorter than the bundler leaves them; what they are called says what it left, which is the same. */
function short(): Plugin {
  return {
    name: 'short',
    apply: 'build',
    async generateBundle(_, bundle) {
      const compress = { passes: 3, pure_getters: true, unsafe_arrows: true, keep_fargs: false };
      for (const file of Object.values(bundle)) {
        if (file.type !== 'chunk') continue;
        file.code = (await minify(file.code, { module: true, ecma: 2020, compress })).code ?? file.code;
      }
    },
  };
}

export default defineConfig({
  plugins: [
    table(),
    unused(),
    svelte({ compilerOptions: { cssHash: ({ name }) => `s-${name}` } }),
    short(),
    scripts(),
    compressed(),
  ],
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
