/** Hash tags of keys in a Redis Cluster. A tag decides the hash slot of its keys, and nodes own ranges of hash slots. The tags of the
 *  first 2, 4, 8, … partitions have evenly spaced hash slots, so every node gets the same number of partitions. */
import hashSlotOf from 'cluster-key-slot';

const HASH_SLOTS = 16_384;
/** log2 of the number of partitions that are evenly spread. */
const BITS = 10;
/** The installation's own keys are in the last range, which holds the fewest of a small number of partitions. */
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

/** Reverses the bits: 0, 512, 256, 768, 128, … */
function reversed(n: number): number {
  let result = 0;
  for (let bit = 0; bit < BITS; bit++) if (n & (1 << bit)) result |= 1 << (BITS - 1 - bit);
  return result;
}
