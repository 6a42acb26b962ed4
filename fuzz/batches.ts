/** The batches of a run: the corpus, then the cases of the seed. */
import type fc from 'fast-check';
import type { Case } from './case.ts';
import { readCorpus } from './corpus.ts';
import { caseOf } from './generate.ts';

/** A case with its name. */
export interface Attack {
  origin: string;
  case: Case;
  number?: number;
}

export const BATCH = 80;

export function* batchesOf(
  seed: number,
  cases: number,
  only: number | undefined,
  corpus: boolean,
  generated: fc.Arbitrary<Case>,
): Generator<Attack[]> {
  const made = (number: number): Attack => ({
    origin: `case ${number} of seed ${seed}`,
    case: caseOf(generated, seed, number),
    number,
  });
  if (only !== undefined) {
    yield [made(only)];
    return;
  }
  const known = corpus
    ? readCorpus().map((entry): Attack => ({ origin: `corpus: ${entry.title}`, case: entry.case }))
    : [];
  for (let at = 0; at < known.length; at += BATCH) yield known.slice(at, at + BATCH);
  for (let at = 0; at < cases; at += BATCH) {
    yield Array.from({ length: Math.min(BATCH, cases - at) }, (_, i) => made(at + i));
  }
}
