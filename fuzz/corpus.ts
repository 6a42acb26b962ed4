/** fuzz/corpus/*.json: inputs that were interesting once. Every run replays them first, and `--save` adds what it finds. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './case.ts';

const FOLDER = join(import.meta.dirname, 'corpus');

export interface CorpusEntry {
  /** A sentence: what it tries. */
  title: string;
  case: Case;
}

export function readCorpus(): CorpusEntry[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return files.sort().flatMap((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as CorpusEntry[]);
}

/** Adds those that are not there yet: a fault is found by many cases, which become the same one when they are made small. */
export function saveToCorpus(entries: readonly CorpusEntry[], folder = FOLDER): { file: string; added: number } {
  const file = join(folder, 'found.json');
  const found: CorpusEntry[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const known = new Set(found.map(({ case: one }) => JSON.stringify(one)));
  const before = found.length;
  for (const entry of entries) {
    const text = JSON.stringify(entry.case);
    if (!known.has(text)) found.push(entry);
    known.add(text);
  }
  if (found.length > before) writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
  return { file, added: found.length - before };
}
