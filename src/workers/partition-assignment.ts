/** Which partitions a worker works on. Every worker computes it from the list of live workers, so they agree without asking each other; for the
 *  seconds in which their lists differ, two work on the same partition, which changes nothing, or a partition waits. Each partition has a worker, each
 *  worker has a partition, their loads differ by one at most, and few partitions move when workers come and go. */
import { crc32 } from 'node:zlib';

/** @param workerIds of all live workers
 *  @returns the numbers of the partitions, in order */
export function assignedPartitions(workerId: string, workerIds: readonly string[], count: number): number[] {
  const workers = [...new Set([...workerIds, workerId])].sort();
  const partitions = Array.from({ length: count }, (_, n) => n);
  if (workers.length <= count) {
    const holders = spread(partitions, workers);
    return partitions.filter((n) => holders.get(n) === workerId);
  }
  return [spread(workers, partitions).get(workerId) as number];
}

/** Gives each item to one of the holders: to the one with the highest hash for the pair that has room (rendezvous hashing with bounded loads). Only
 *  as many as must have one item more than others, so that each has its share. */
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
