import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compress } from './compress.ts';

/** The web process writes a fresh nonce where this stands, each time it serves the page (src/api/dashboard.ts). */
const NONCE = '__CSP_NONCE__';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), compress()],
  html: { cspNonce: NONCE },
  build: { outDir: 'dist', emptyOutDir: true, assetsInlineLimit: 0, target: 'es2024', reportCompressedSize: false },
});
