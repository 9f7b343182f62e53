// Builds the page into `dist`, which the program embeds; the same sources give the same bytes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { minifySync, type Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

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

export default defineConfig({
  plugins: [table(), svelte({ compilerOptions: { cssHash: ({ name }) => `s-${name}` } }), scripts()],
  base: './',
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
