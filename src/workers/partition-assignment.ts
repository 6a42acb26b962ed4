/** Assigns partitions to workers. Every worker computes the assignment from the list of live workers, so they agree without communication.
 *  While their lists differ for a few seconds, two workers work on the same partition, which is harmless, or a partition waits. Each
 *  partition has a worker, each worker has a partition, loads differ by at most one, and few partitions move when workers come and go. */
import { crc32 } from 'node:zlib';
import { duty } from '../duties/duty.ts';
import type { Logger } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { Workers } from './workers.ts';

/** @param workerIds all live workers
 *  @returns numbers of the partitions, in order */
export function assignedPartitions(workerId: string, workerIds: readonly string[], count: number): number[] {
  const workers = [...new Set([...workerIds, workerId])].sort();
  const partitions = Array.from({ length: count }, (_, n) => n);
  if (workers.length <= count) {
    const holders = spread(partitions, workers);
    return partitions.filter((n) => holders.get(n) === workerId);
  }
  return [spread(workers, partitions).get(workerId) as number];
}

/** Assigns each item to the holder with the highest hash for the pair that has room (rendezvous hashing with bounded loads). Only as many
 *  holders as necessary get one item more than others. */
function spread<Item extends string | number, Holder extends string | number>(
  items: readonly Item[],
  holders: readonly Holder[],
): Map<Item, Holder> {
  const share = Math.floor(items.length / holders.length);
  let oneMore = items.length % holders.length;
  const loads = new Map<Holder, number>(holders.map((holder) => [holder, 0]));
  const given = new Map<Item, Holder>();
  for (const item of items) {
    const open = holders.filter((holder) => (loads.get(holder) as number) < share + (oneMore > 0 ? 1 : 0));
    const best = open.reduce((a, b) => (weight(item, b) > weight(item, a) ? b : a));
    const load = (loads.get(best) as number) + 1;
    if (load > share) oneMore--;
    loads.set(best, load);
    given.set(item, best);
  }
  return given;
}

function weight(item: string | number, holder: string | number): number {
  return crc32(typeof item === 'number' ? `${item}/${holder}` : `${holder}/${item}`);
}

export interface PartitionSharingDeps extends Pick<Store, 'liveWorkers' | 'partitions'> {
  workers: Pick<Workers, 'partitions' | 'assign'>;
  processId: string;
  log: Logger;
}

/** A worker that ends leaves its partitions to the others before it finishes its jobs. */
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
