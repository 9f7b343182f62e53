// Builds the full screen page into `dist` beside the main page. It is a separate build, because a bundle with the shared
// code would need another request of the main page.
import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  publicDir: false,
  build: {
    target: 'es2022',
    emptyOutDir: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: { input: 'glass.html' },
  },
});
