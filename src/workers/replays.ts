/** Carries out replays in every worker. */
import { type ReplayDeps, ReplayRounds } from '../jobs/replays/replay-rounds.ts';
import type { PeriodicTask } from './periodic-task.ts';
import { startRounds } from './rounds.ts';

export function startReplays(deps: ReplayDeps): PeriodicTask {
  return startRounds(new ReplayRounds(deps), deps.log, 'replays could not be carried out');
}
