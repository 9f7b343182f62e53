// Builds the page into `dist`, which the program embeds. The build is reproducible.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { minifySync, type Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The parts of the page; the styles of each have its number in their names. */
const PARTS = readdirSync(join(import.meta.dirname, 'src/ui')).sort();

/** Minifies the scripts outside the bundles. */
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

/** Removes members of the table of settings that the page does not use or that have a default value. */
function table(): Plugin {
  return {
    name: 'table',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/settings.gen.json')) return null;
      const isRedundant = (row: { key?: string }, key: string, value: unknown) =>
        key === 'alias' ||
        ((key === 'reboot' || key === 'secret') && value === false) ||
        (key === 'default' && row.key !== 'ceEndpoint');
      function replacer(this: { key?: string }, key: string, value: unknown) {
        return isRedundant(this, key, value) ? undefined : value;
      }
      return { code: JSON.stringify(JSON.parse(code), replacer), map: null };
    },
  };
}

export default defineConfig({
  plugins: [
    table(),
    svelte({ compilerOptions: { cssHash: ({ name }) => `s${PARTS.indexOf(`${name}.svelte`)}` } }),
    scripts(),
  ],
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
