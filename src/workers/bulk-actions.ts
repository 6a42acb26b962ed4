/** Carries out bulk actions on runs in every worker. */
import { type BulkRoundDeps, BulkRounds } from '../jobs/bulk/bulk-rounds.ts';
import type { PeriodicTask } from './periodic-task.ts';
import { startRounds } from './rounds.ts';

export function startBulkActions(deps: BulkRoundDeps): PeriodicTask {
  return startRounds(new BulkRounds(deps), deps.log, 'bulk actions could not be carried out');
}
