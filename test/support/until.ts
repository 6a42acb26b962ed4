/** Waits for conditions in tests. The only place in the tests that polls by the clock. */
import { setTimeout } from 'node:timers/promises';

export interface UntilOptions {
  /** The condition in the error message of a timeout: `run 01… is completed`. */
  describe: string | (() => string);
  timeoutMs?: number;
}

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>;

/** Checks of a service cost CPU time: the longer a wait, the rarer they are. It lasts a tenth longer than what it waits for, at most. */
const PAUSE_MIN_MS = 5;
const PAUSE_MAX_MS = 50;
const PAUSE_PART = 0.1;
/** A wait ends when the thing happens, so a long limit costs time only in a test that fails. On a busy machine it tells slow from never. Below
 *  mocha's (.mocharc.json), whose message does not say what did not happen. A test of tests that wait in vain sets another. */
const PATIENCE_MS = Number(process.env.TEST_PATIENCE_MS ?? 30_000);

/** Polls until the check returns a truthy value, and returns it. An error of the check counts as "not yet"; the last one becomes the
 *  cause of the timeout error. */
export async function until<T>(
  check: () => T | Promise<T>,
  { describe, timeoutMs = PATIENCE_MS }: UntilOptions,
): Promise<Truthy<T>> {
  const startedAt = performance.now();
  const deadline = startedAt + timeoutMs;
  let cause: unknown;
  do {
    try {
      const result = await check();
      if (result) return result as Truthy<T>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    const pauseMs = PAUSE_PART * (performance.now() - startedAt);
    await setTimeout(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, pauseMs)));
  } while (performance.now() < deadline);
  const what = typeof describe === 'string' ? describe : describe();
  throw new Error(`Not within ${timeoutMs} ms: ${what}`, { cause });
}
