/** Carries out bulk operations in every worker. */
import type { BulkRounds } from '../jobs/bulk/bulk-rounds.ts';
import type { Logger } from '../log.ts';
import type { Store } from '../store/store.ts';
import { type PeriodicTask, repeatUntilStopped } from './periodic-task.ts';
import { startRounds } from './rounds.ts';

const ADOPTION_ROUND_MS = 10_000;

export function startBulkOperations(rounds: BulkRounds, log: Logger): PeriodicTask {
  return startRounds(rounds, log, 'bulk operations could not be carried out');
}

/** Once at the start for every environment, then for those in which something is added during a deploy. */
export function startAdoption({ earlierOperations, environments }: Store, log: Logger): PeriodicTask {
  let envs = async () => (await environments.all()).map(({ name }) => name);
  const { stop, stopped } = repeatUntilStopped(async () => {
    try {
      await earlierOperations.adopt(await envs());
      envs = () => earlierOperations.envsInProgress();
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'bulk operations of an earlier version could not be adopted');
    }
    return ADOPTION_ROUND_MS;
  });
  return {
    async close() {
      stop();
      await stopped;
    },
  };
}
