// Builds the page into `dist`, which the program embeds; the same sources give the same bytes.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const pkg = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  version: string;
  releaseTime: number;
};

// Oldest program that answers everything this page asks.
const MIN_FIRMWARE = '4.0.0';

/** Writes `manifest.json`: the commit is a hash of the content, the time is that of the release. */
function manifest(): Plugin {
  return {
    name: 'papertick-manifest',
    apply: 'build',
    writeBundle(options) {
      const dir = options.dir ?? 'dist';
      const hash = createHash('sha256');
      const names = readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== 'manifest.json')
        .map((entry) => join(entry.parentPath, entry.name))
        .sort();
      for (const name of names) {
        hash
          .update(`${name.slice(dir.length)}\0`)
          .update(readFileSync(name))
          .update('\0');
      }
      const content = {
        commit: `${pkg.version}-${hash.digest('hex').slice(0, 12)}`,
        minFirmware: MIN_FIRMWARE,
        buildTime: pkg.releaseTime,
      };
      writeFileSync(join(dir, 'manifest.json'), `${JSON.stringify(content)}\n`);
    },
  };
}

export default defineConfig({
  plugins: [svelte(), manifest()],
  base: './',
  build: {
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/events', '/sim', '/upload'].map((path) => [
        path,
        { target: process.env.PAPERTICK_URL ?? 'http://127.0.0.1:8080', changeOrigin: true, ws: true },
      ]),
    ),
  },
  test: { include: ['tests/unit/**/*.test.ts'] },
});
