/** Bulk actions on runs as bulk operations. */
import type { BulkAction, BulkActionDefinition, BulkPosition } from '../../model/runs/bulk-action.ts';
import { type BulkPortionDeps, doBulkAction } from './bulk-action-portion.ts';
import type { BulkLoad } from './bulk-load.ts';
import type { BulkWork } from './bulk-work.ts';

const WAIT_MS = 2_000;
/** After this time, the worker has finished its last portion of a cancelled action, or is dead. */
const ENDING_MS = 15_000;

export interface BulkActionWorkDeps extends BulkPortionDeps {
  /** Re-runs pause before events are rejected, as replays do. */
  load: Pick<BulkLoad, 'reasonToWait'>;
}

export function bulkActionWork(deps: BulkActionWorkDeps): BulkWork<BulkActionDefinition, BulkPosition | null> {
  return {
    operations: deps.bulkActions,
    inArchivedEnvironments: 'waits',
    async reasonToWait({ definition: { action } }) {
      if (action === 'cancel') return undefined;
      const reason = await deps.load.reasonToWait(Date.now());
      return reason === 'active_runs' ? 'backlog' : reason;
    },
    async doPortion(action) {
      return (await isSourceEnding(action, deps)) ? WAIT_MS : doBulkAction(action, deps);
    },
  };
}

/** Whether the action whose runs are selected may still start runs. */
async function isSourceEnding({ env, definition }: BulkAction, { bulkActions }: BulkActionWorkDeps): Promise<boolean> {
  const { startedBy } = definition.selection;
  if (startedBy === undefined) return false;
  const source = await bulkActions.read(env, startedBy);
  return source?.planned !== undefined && Date.now() - (source.doneAt ?? 0) < ENDING_MS;
}
