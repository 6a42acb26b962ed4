/** Hash tags of keys on a Redis Cluster. A tag decides the hash slot of its keys, and hash slots are spread over the nodes in ranges. Tags are chosen such
 *  that the hash slots of the first 2, 4, 8, … partitions are equally far apart, so each node has as many partitions as any other. */
import hashSlotOf from 'cluster-key-slot';

const HASH_SLOTS = 16_384;
/** Partitions up to here are evenly spread; 2 to the power of BITS. */
const BITS = 10;
/** The installation's keys take a position in the last range, from which small numbers of partitions take the fewest. */
const INSTALLATION_POSITION = 1_023;

const cached = new Map<string, string>();

/** @param n of the partition */
export function partitionTag(prefix: string, n: number): string {
  return tagAt(`${prefix}:${String(n).padStart(2, '0')}`, reversed(n));
}

export function installationTag(prefix: string): string {
  return tagAt(prefix, INSTALLATION_POSITION);
}

/** A tag that begins with `name` and whose hash slot is in the given one of 1,024 equal ranges. */
function tagAt(name: string, position: number): string {
  const present = cached.get(name);
  if (present !== undefined) return present;
  const width = HASH_SLOTS / 2 ** BITS;
  let tag = name;
  for (let n = 0; Math.floor(hashSlotOf(tag) / width) !== position; n++) tag = `${name}:${n.toString(36)}`;
  cached.set(name, tag);
  return tag;
}

/** The bits in reverse: 0, 512, 256, 768, 128, … */
function reversed(n: number): number {
  let result = 0;
  for (let bit = 0; bit < BITS; bit++) if (n & (1 << bit)) result |= 1 << (BITS - 1 - bit);
  return result;
}
