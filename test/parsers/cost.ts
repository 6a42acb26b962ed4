/** What a parser costs: CPU time of the main thread, whatever else the machine is at. */

/** Of the main thread, for an input of the largest allowed size. In that time a web process answers no one else. */
export const BUDGET_MS = 50;
/** The first tries also pay for compiling the code, and for whatever the collector of garbage was at. */
const TRIES = 25;

/** What the reference costs on the machine that the budget was made for, two cores of a 2020s server at 3 GHz. */
const REFERENCE_MS = 6;
const REFERENCE = `[${'{"a":[1,2,3],"b":"c"},'.repeat(20_000)}0]`;

/** @returns CPU milliseconds of the cheapest try, as they would be on the reference machine, or here where that is faster; what it throws is an answer like any other */
export async function costOf(work: () => unknown, budgetMs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < TRIES && least > budgetMs; n++) least = Math.min(least, (await once(work)) / (await slowness()));
  return least;
}

/** How much slower this machine is than the reference, at this moment: a neighbor on the same core counts, too. */
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
