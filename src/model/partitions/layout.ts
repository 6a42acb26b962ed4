/** Partitions: an event, its runs and their jobs are all in one partition, which two digits of an ID name. The number of partitions only grows,
 *  each time at a given moment; older IDs keep their partition, because their time says which number was in force. */
import { crc32 } from 'node:zlib';
import { partitionDigits, timeOf } from '../ids.ts';
import { DAY_MS } from '../values/time.ts';

/** The number of partitions from a time on. */
export interface LayoutVersion {
  count: number;
  /** Unix milliseconds. */
  since: number;
}

/** How long a claim on a deduplication ID may be in another partition after a change of the layout: a day, plus clock skew. */
const CLAIMS_MS = DAY_MS + 600_000;

export class PartitionLayout {
  /** Sorted by time; the first is in force from the beginning. */
  readonly versions: readonly LayoutVersion[];
  readonly #last: LayoutVersion;

  constructor(versions: readonly LayoutVersion[]) {
    const [first, ...later] = versions.toSorted((a, b) => a.since - b.since);
    if (!first) throw new RangeError('a layout has at least one version');
    this.versions = [{ ...first, since: 0 }, ...later];
    this.#last = this.versions.at(-1) as LayoutVersion;
  }

  /** The number of partitions, including those that a planned change adds. */
  get count(): number {
    return this.#last.count;
  }

  /** The time of the first IDs that name a partition; Infinity if there is only one partition. */
  get partitionedSince(): number {
    return this.versions.find(({ count }) => count > 1)?.since ?? Number.POSITIVE_INFINITY;
  }

  /** The number of partitions in force at a time. */
  countAt(timeMs: number): number {
    if (timeMs >= this.#last.since) return this.#last.count;
    return this.versions.findLast(({ since }) => since <= timeMs)?.count ?? 1;
  }

  partitionOf(id: string): number {
    if (this.#last.count === 1) return 0;
    const count = this.countAt(timeOf(id));
    return count === 1 ? 0 : partitionDigits(id) % count;
  }

  /** The partition of a text at a time: of a deduplication ID, a seed, or the name of an awaited event. */
  homeOf(text: string, timeMs: number): number {
    const count = this.countAt(timeMs);
    return count === 1 ? 0 : crc32(text) % count;
  }

  /** The permanent partition of a text, one of the partitions with which the installation began. */
  permanentHomeOf(text: string): number {
    const [first] = this.versions as [LayoutVersion];
    return first.count === 1 ? 0 : crc32(text) % first.count;
  }

  /** All partitions in which the text's data may be, the current one first: another layout was in force when it was stored, or the clock of
   *  the storing process was ahead when the layout changed. */
  homesOf(text: string, nowMs: number): number[] {
    if (this.#last.count === 1) return [0];
    const hash = crc32(text);
    const counts = this.versions.map(({ count }) => count).reverse();
    return [...new Set([this.countAt(nowMs), ...counts].map((count) => hash % count))];
  }

  /** The partitions that may have a claim on a deduplication ID, in the order in which processes ask them: the partitions of all layouts of the
   *  last day, by the first version that had each. The order does not depend on the time, so processes whose clocks
   *  differ agree: the first claim in the first partition stands. */
  claimHomesOf(text: string, nowMs: number): number[] {
    const home = this.homeOf(text, nowMs);
    if (this.versions.length === 1) return [home];
    const hash = crc32(text);
    const former = this.versions.flatMap(({ count }, i) => {
      const until = this.versions[i + 1]?.since ?? Number.POSITIVE_INFINITY;
      return until <= nowMs && nowMs - until <= CLAIMS_MS ? [hash % count] : [];
    });
    const asked = new Set([...former, home]);
    // A partition may be the home in several versions, of which the first may be more than a day old.
    return [...new Set(this.versions.map(({ count }) => hash % count))].filter((partition) => asked.has(partition));
  }
}
