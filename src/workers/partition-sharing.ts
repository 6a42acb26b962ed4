/** Shares the partitions among workers. A worker that ends leaves its partitions to the others before it finishes its jobs. */
import { duty } from '../duties/duty.ts';
import type { Logger } from '../log.ts';
import type { Store } from '../store/store.ts';
import { assignedPartitions } from './partition-assignment.ts';
import type { Workers } from './workers.ts';

export interface PartitionSharingDeps extends Pick<Store, 'liveWorkers' | 'partitions'> {
  workers: Pick<Workers, 'partitions' | 'assign'>;
  processId: string;
  log: Logger;
}

export const partitionSharing = duty<PartitionSharingDeps>({
  name: 'partitions',
  about: 'Shares the partitions with the other workers',
  scope: 'process',
  everyMs: 1_000,
  lastRoundMs: 500,
  rounds: (deps) => () => share(deps),
  end: async ({ partitions, liveWorkers, processId }) => {
    if (partitions.layout.count > 1) await liveWorkers.leave(processId);
  },
});

async function share({ liveWorkers, partitions, workers, processId, log }: PartitionSharingDeps): Promise<void> {
  const { count } = partitions.layout;
  const workerIds = count === 1 ? [processId] : await liveWorkers.renew(processId);
  const assigned = assignedPartitions(processId, workerIds, count);
  const before = workers.partitions;
  if (assigned.every((n) => before.includes(n)) && before.every((n) => assigned.includes(n))) return;
  workers.assign(assigned);
  log.info({ partitions: assigned, workers: workerIds.length }, 'partitions assigned');
}
