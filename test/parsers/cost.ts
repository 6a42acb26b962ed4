/** Measures CPU time of the main thread, independent of other load on the machine. */

/** CPU time for an input of the largest allowed size. Meanwhile a web process handles no other request. */
export const BUDGET_MS = 50;
/** The first attempts include JIT compilation and garbage collection. */
const TRIES = 25;

/** CPU time of the reference on the machine of the budget: two cores of a 2020s server at 3 GHz. */
const REFERENCE_MS = 6;
const REFERENCE = `[${'{"a":[1,2,3],"b":"c"},'.repeat(20_000)}0]`;

/** @returns CPU milliseconds of the fastest attempt, scaled to the reference machine if this one is slower. Ignores errors of the parser */
export async function costOf(work: () => unknown, budgetMs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < TRIES && least > budgetMs; n++) {
    const cost = await once(work);
    // The reference costs as much as most parsers, and matters only beyond the budget.
    least = Math.min(least, cost > budgetMs ? cost / (await slowness()) : cost);
  }
  return least;
}

/** Current slowness of this machine compared with the reference, including noisy neighbors. */
async function slowness(): Promise<number> {
  return Math.max(1, (await once(() => JSON.parse(REFERENCE))) / REFERENCE_MS);
}

async function once(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  try {
    await work();
  } catch {}
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
