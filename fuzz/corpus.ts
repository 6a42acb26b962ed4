/** The corpus, fuzz/corpus/*.json: inputs that once found a bug or were hard to handle. Every run replays them first; `--save` adds new findings. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './case.ts';

const FOLDER = join(import.meta.dirname, 'corpus');

export interface CorpusEntry {
  /** What the case tries. */
  title: string;
  case: Case;
}

export function readCorpus(): CorpusEntry[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return files.sort().flatMap((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as CorpusEntry[]);
}

/** Adds new entries. Many cases find the same bug and shrink to the same case. */
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
