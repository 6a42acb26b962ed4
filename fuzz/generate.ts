/** Cases of a seed: the nth is the same each time, whatever was made before it, and can be made smaller while it still fails. */
import fc from 'fast-check';
import type { Case } from './case.ts';

/** Requests that making a case smaller may take. */
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

/** The smallest case found that still fails. */
export async function shrunk(
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

/** Seeds of fast-check are 32 bits; cases of neighboring numbers are to have nothing in common. */
function once(seed: number, number: number) {
  return { seed: (Math.imul(seed, 2_654_435_761) ^ Math.imul(number + 1, 1_597_334_677)) | 0, numRuns: 1 };
}
