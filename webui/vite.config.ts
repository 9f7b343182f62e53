// Builds the page into `dist`, which the program embeds; the same sources give the same bytes.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  base: '/',
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
