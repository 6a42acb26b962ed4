/** Which partitions a worker works on. Every worker computes it from the list of live workers, so they agree without asking each other; for the
 *  seconds in which their lists differ, two work on the same partition, which changes nothing, or a partition waits. Each partition has a worker, each
 *  worker has a partition, and as few as possible move when workers come and go. */
import { crc32 } from 'node:zlib';

/** @param workerIds of all live workers
 *  @returns the numbers of the partitions, in order */
export function assignedPartitions(workerId: string, workerIds: readonly string[], count: number): number[] {
  const workers = [...new Set([...workerIds, workerId])].sort();
  const partitions = Array.from({ length: count }, (_, n) => n);
  if (workers.length <= count) {
    const holders = spread(partitions, workers, Math.ceil(count / workers.length));
    return partitions.filter((n) => holders.get(n) === workerId);
  }
  return [spread(workers, partitions, Math.ceil(workers.length / count)).get(workerId) as number];
}

/** Gives each item to one of the holders: to the one with the highest hash for the pair that has room (rendezvous hashing with bounded loads). */
function spread<Item extends string | number, Holder extends string | number>(
  items: readonly Item[],
  holders: readonly Holder[],
  most: number,
): Map<Item, Holder> {
  const loads = new Map<Holder, number>(holders.map((holder) => [holder, 0]));
  const given = new Map<Item, Holder>();
  for (const item of items) {
    const open = holders.filter((holder) => (loads.get(holder) as number) < most);
    const best = open.reduce((a, b) => (weight(item, b) > weight(item, a) ? b : a));
    loads.set(best, (loads.get(best) as number) + 1);
    given.set(item, best);
  }
  return given;
}

function weight(item: string | number, holder: string | number): number {
  return crc32(typeof item === 'number' ? `${item}/${holder}` : `${holder}/${item}`);
}
