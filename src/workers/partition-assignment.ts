/** Assigns partitions to workers. Every worker computes the assignment from the list of live workers, so they agree without communication.
 *  While their lists differ for some seconds, two workers work on the same partition, which is harmless, or a partition waits. Each
 *  partition has a worker, each worker has a partition, loads differ by at most one, and few partitions move when workers come and go. */
import { crc32 } from 'node:zlib';

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
