/** Generates and shrinks the cases of a seed. Case n depends only on the seed and n. */
import fc from 'fast-check';
import type { Case } from './case.ts';

/** Maximum number of requests to shrink a case. */
const SHRINK_MAX = 200;
const SHRINK_MS = 60_000;

export function caseOf(cases: fc.Arbitrary<Case>, seed: number, number: number): Case {
  let made: Case | undefined;
  fc.assert(
    fc.property(cases, (one) => {
      made = one;
    }),
    once(seed, number),
  );
  return made as Case;
}

/** @returns the smallest case found that still fails */
export async function shrinkCase(
  cases: fc.Arbitrary<Case>,
  seed: number,
  number: number,
  fails: (one: Case) => Promise<boolean>,
): Promise<Case> {
  let smallest = caseOf(cases, seed, number);
  let asked = 0;
  const property = fc.asyncProperty(cases, async (one) => {
    if (++asked > SHRINK_MAX || !(await fails(one))) return true;
    smallest = one;
    return false;
  });
  await fc.check(property, { ...once(seed, number), interruptAfterTimeLimit: SHRINK_MS });
  return smallest;
}

/** Mixes seed and number into 32 bits, so that consecutive cases are unrelated. */
function once(seed: number, number: number) {
  return { seed: (Math.imul(seed, 2_654_435_761) ^ Math.imul(number + 1, 1_597_334_677)) | 0, numRuns: 1 };
}
