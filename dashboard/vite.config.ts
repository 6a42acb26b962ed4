import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compress } from './compress.ts';
import { sonnerStyles } from './sonner-styles.ts';

/** The web process replaces this with a new nonce for each response (src/api/dashboard.ts). */
const NONCE = '__CSP_NONCE__';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), sonnerStyles(), compress()],
  html: { cspNonce: NONCE },
  build: { outDir: 'dist', emptyOutDir: true, assetsInlineLimit: 0, target: 'es2024', reportCompressedSize: false },
});
