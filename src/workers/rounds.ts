/** Work that a worker does in rounds, for as long as there is any, and that goes on after an error. */
import type { Logger } from '../log.ts';
import { type PeriodicTask, repeatUntilStopped } from './periodic-task.ts';

const AFTER_FAILURE_MS = 1_000;

export interface Rounds {
  /** @returns milliseconds until the next round */
  round(signal: AbortSignal): Promise<number>;
  /** Resolves when nothing of a round is left to do. */
  settled(): Promise<unknown>;
}

/** @param failure log line of a round that failed */
export function startRounds(rounds: Rounds, log: Logger, failure: string): PeriodicTask {
  const { stop, stopped } = repeatUntilStopped(async (signal) => {
    try {
      return await rounds.round(signal);
    } catch (error) {
      log.warn({ err: (error as Error).message }, failure);
      return AFTER_FAILURE_MS;
    }
  });
  return {
    async close() {
      stop();
      await stopped;
      await rounds.settled();
    },
  };
}
