/** Checks that imports keep to the layers of src/, and that no files anywhere import each other in circles.
 *  `node scripts/check-layers.ts [root]` prints each violation as `file:line: what (rule)`. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { cyclesAmong } from './lib/cycles.ts';
import { violationsOf } from './lib/layers.ts';
import { readSource } from './lib/source.ts';

const ROOTS = ['src', 'clients/typescript', 'examples/typescript', 'scripts', 'test', 'bench'];

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'));
const files = ROOTS.filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ['**/node_modules'] }))
  .map((file) => file.split(sep).join('/'))
  .sort();
const sources = new Map(files.map((file) => [file, readSource(readFileSync(join(root, file), 'utf8'))]));

const violations = [...sources]
  .filter(([file]) => file.startsWith('src/'))
  .flatMap(([file, source]) => violationsOf(file, source))
  .concat(cyclesAmong(sources));

for (const { file, line, what, rule } of violations) console.log(`${file}:${line}: ${what}: ${rule}`);
if (violations.length > 0) process.exitCode = 1;
else console.log(`${files.length} files keep to the layers, without circles`);
