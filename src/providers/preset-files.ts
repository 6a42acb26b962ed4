/** Exports of the files in presets/. `npm run build` replaces this file with imports of them (scripts/lib/bundle.ts). */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'presets');
/** The released package has compiled code. */
const EXTENSION = extname(import.meta.filename);

const require = createRequire(import.meta.url);

/** Names of files, and their default exports. */
export const PRESET_FILES: readonly [name: string, content: unknown][] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(EXTENSION))
  .map((name) => [name, (require(join(FOLDER, name)) as { default: unknown }).default]);
