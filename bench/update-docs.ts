/** Writes the tables and pictures of the documents from a results file, by default the newest: node bench/update-docs.ts [bench/results/<date>.json] */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { runMain } from '../scripts/lib/problem.ts';
import { CHART_FOLDER, chartFiles, DOCUMENTS, fillBlocks } from './documents.ts';
import { ROOT } from './processes.ts';
import { readResults } from './results.ts';

await runMain(async () => {
  const file = resolve(process.argv[2] ?? newest());
  const results = readResults(file);
  for (const document of DOCUMENTS) {
    const path = join(ROOT, document);
    writeFileSync(path, fillBlocks(readFileSync(path, 'utf8'), relative(ROOT, file), results));
  }
  const dir = join(ROOT, CHART_FOLDER);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const [name, drawn] of chartFiles(results)) writeFileSync(join(dir, name), drawn);
  console.log(`Wrote ${DOCUMENTS.join(', ')} and ${CHART_FOLDER}/ from ${relative(ROOT, file)}`);
});

function newest(): string {
  const dir = join(ROOT, 'bench/results');
  return join(dir, readdirSync(dir).sort().at(-1) as string);
}
