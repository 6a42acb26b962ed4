/** `npm run trim`: makes an installation for production smaller, after `npm prune --omit=dev --omit=optional`. */
import { resolve } from 'node:path';
import { trimPackages } from './lib/trim-packages.ts';

const MEGABYTE = 1_000_000;

const removed = trimPackages(resolve(import.meta.dirname, '../node_modules'), process);
console.log(
  removed === undefined
    ? 'node_modules is left as it is: it has the packages for development. First: npm prune --omit=dev --omit=optional'
    : `Removed ${Math.round(removed / MEGABYTE)} MB of source maps, types and binaries for other platforms from node_modules`,
);
