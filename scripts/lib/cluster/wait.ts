/** Waits for a cluster, whose nodes tell each other what happens and announce nothing to clients. */
import { setTimeout } from 'node:timers/promises';

const POLL_MS = 25;

/** Polls until the check returns something; an error counts as "not yet".
 *  @throws Error that says what was missing, with the last error as its cause */
export async function waitUntil<T>(check: () => Promise<T | undefined>, what: string, timeoutMs: number): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      const found = await check();
      if (found !== undefined) return found;
    } catch (error) {
      cause = error;
    }
    await setTimeout(POLL_MS);
  } while (performance.now() < deadline);
  throw new Error(`Redis Cluster: not within ${timeoutMs} ms: ${what}`, { cause });
}
