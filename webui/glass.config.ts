// Builds the full screen page into `dist` beside the main page. A build of its own: shared code in a bundle of its own
// would cost the main page a request.
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
