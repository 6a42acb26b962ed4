/** Writes a .br and a .gz copy of each built file. The web process serves them to browsers that accept them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Smaller files hardly get smaller. */
const MIN_BYTES = 200;

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
        if (content.length < MIN_BYTES || /\.(br|gz)$/.test(name)) continue;
        writeFileSync(`${file}.br`, brotliCompressSync(content));
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}
