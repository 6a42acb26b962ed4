/** Writes each file of the build once more as .br and .gz, which the web process hands to browsers that take them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const WORTH_BYTES = 1_024;

export function compress(): Plugin {
  let dir = '';
  return {
    name: 'compress',
    apply: 'build',
    configResolved({ root, build }) {
      dir = resolve(root, build.outDir, 'assets');
    },
    closeBundle() {
      for (const name of readdirSync(dir)) {
        const file = join(dir, name);
        const content = readFileSync(file);
        if (content.length < WORTH_BYTES || /\.(br|gz)$/.test(name)) continue;
        writeFileSync(`${file}.br`, brotliCompressSync(content));
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}
