/** The IDs of one installation that name a partition, and IDs that are derived from them. Derivation is deterministic, which makes repeated
 *  operations idempotent. */
import { hashedId, ownEventIdOf, partitionDigits, timeOf, withPartition } from '../ids.ts';
import type { PartitionLayout } from './layout.ts';

export class PartitionedIds {
  /** The time of the first IDs that name a partition. It outlives outages of Redis, in which the layout is not known. */
  #since = Number.POSITIVE_INFINITY;

  /** Call when the layout has been read. */
  follow({ partitionedSince }: Pick<PartitionLayout, 'partitionedSince'>): void {
    this.#since = partitionedSince;
  }

  /** The ID with this partition. An ID from before partitioning stays unchanged. */
  inPartition(id: string, partition: number): string {
    if (this.#since === Number.POSITIVE_INFINITY || timeOf(id) < this.#since) return id;
    return withPartition(id, partition);
  }

  /** An ID at the time and in the partition of `parent` whose other bits are a hash of the parent and `parts`. */
  derived(parent: string, ...parts: string[]): string {
    return this.inPartition(hashedId(timeOf(parent), [parent, ...parts]), partitionDigits(parent));
  }

  /** A derived ID for an event that the service itself sends. */
  derivedEvent(parent: string, ...parts: string[]): string {
    return ownEventIdOf(this.derived(parent, ...parts));
  }

  /** The ID of an event that the service sends at a time without a parent event: its other bits are a hash of `parts`. */
  ownEvent(timeMs: number, partition: number, ...parts: string[]): string {
    return ownEventIdOf(this.inPartition(hashedId(timeMs, parts), partition));
  }
}
