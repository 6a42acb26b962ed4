/** Carries out replays in every worker. */
import { type ReplayDeps, ReplayRounds } from '../jobs/replays/replay-rounds.ts';
import { type PeriodicTask, repeatUntilStopped } from './periodic-task.ts';

const AFTER_FAILURE_MS = 1_000;

export function startReplays(deps: ReplayDeps): PeriodicTask {
  const rounds = new ReplayRounds(deps);
  const { stop, stopped } = repeatUntilStopped(async (signal) => {
    try {
      return await rounds.round(signal);
    } catch (error) {
      deps.log.warn({ err: (error as Error).message }, 'replays could not be carried out');
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
