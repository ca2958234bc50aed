// Bundles the dashboard into dist/web, which src/dashboard serves. Everything comes along: no CDN,
// no fonts from elsewhere.
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const service = process.env.SANDMARTIN_URL ?? 'http://localhost:3000';

export default defineConfig({
  root: here('.'),
  // Everything is found from the page's <base>, which the server sets: BASE_URL may have a path.
  base: './',
  plugins: [react()],
  resolve: {
    alias: { '@codemirror/lang-javascript': here('./src/pages/templates/no-javascript.ts') },
  },
  // The server puts the answer's own nonce there (src/dashboard/assets.ts).
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy allows neither inline scripts nor data: scripts.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
  server: {
    // `npx vite web` beside a running service: pages from here, answers from there.
    proxy: { '/dashboard': service, '/v1': service },
    fs: { allow: [here('..')] },
  },
});
