/** Writes that must not be lost to a short refusal of Redis: what an app answered is in memory, and its call would have to be made again. */
import { setTimeout } from 'node:timers/promises';
import { isStoreFailure } from '../../store/redis/connection.ts';

/** 30 s in all. After that the job is given back, and the call is made again once Redis takes writes. */
const DELAYS_MS = [100, 200, 400, 800, 1_500, 3_000, 4_000, 5_000, 5_000, 5_000, 5_000] as const;

/** Repeats `write` while Redis refuses it.
 *  @param write does the same when it is done again
 *  @throws the last refusal, or at once any other error */
export async function retryStoreWrites<T>(write: () => Promise<T>): Promise<T> {
  for (const delayMs of DELAYS_MS) {
    try {
      return await write();
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      // A process that is told to end need not wait for this.
      await setTimeout(delayMs * (0.75 + Math.random() / 2), undefined, { ref: false });
    }
  }
  return write();
}
