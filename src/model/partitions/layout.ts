/** Partitions: everything of an event is in one of them, with its runs and their jobs. An ID names its partition by two of its digits. The number
 *  of partitions grows only, from a time on; IDs from before keep their partition, because their time says which number was in force. */
import { crc32 } from 'node:zlib';
import { partitionDigits, timeOf } from '../ids.ts';

/** From a time on, there are so many partitions. */
export interface LayoutVersion {
  count: number;
  /** Unix milliseconds. */
  since: number;
}

/** An event with a deduplication ID counts once within a day: after a change of the layout its claim may be in another partition for so long. */
const CLAIMS_MS = 86_400_000 + 600_000;

export class PartitionLayout {
  /** In the order of time; the first is in force since ever. */
  readonly versions: readonly LayoutVersion[];
  readonly #last: LayoutVersion;

  constructor(versions: readonly LayoutVersion[]) {
    const [first, ...later] = versions.toSorted((a, b) => a.since - b.since);
    if (!first) throw new RangeError('a layout has at least one version');
    this.versions = [{ ...first, since: 0 }, ...later];
    this.#last = this.versions.at(-1) as LayoutVersion;
  }

  /** The number of partitions that have or will have something. */
  get count(): number {
    return this.#last.count;
  }

  /** The time of the first IDs that name a partition; Infinity: there is one partition. */
  get partitionedSince(): number {
    return this.versions.find(({ count }) => count > 1)?.since ?? Number.POSITIVE_INFINITY;
  }

  /** The number of partitions in force at a time. */
  countAt(timeMs: number): number {
    if (timeMs >= this.#last.since) return this.#last.count;
    return this.versions.findLast(({ since }) => since <= timeMs)?.count ?? 1;
  }

  /** The partition of what has this ID. */
  partitionOf(id: string): number {
    if (this.#last.count === 1) return 0;
    const count = this.countAt(timeOf(id));
    return count === 1 ? 0 : partitionDigits(id) % count;
  }

  /** The partition of what belongs to a text at a time: an event's deduplication ID, a seed, the name of an awaited event. */
  homeOf(text: string, timeMs: number): number {
    const count = this.countAt(timeMs);
    return count === 1 ? 0 : crc32(text) % count;
  }

  /** The partition of a text for good: among those that the installation had at first. */
  permanentHomeOf(text: string): number {
    const [first] = this.versions as [LayoutVersion];
    return first.count === 1 ? 0 : crc32(text) % first.count;
  }

  /** All partitions in which it may be, the present one first: it was stored there while another layout was in force, or by a process whose clock is
   *  ahead of this one's when the layout changes. */
  homesOf(text: string, nowMs: number): number[] {
    if (this.#last.count === 1) return [0];
    const hash = crc32(text);
    const counts = this.versions.map(({ count }) => count).reverse();
    return [...new Set([this.countAt(nowMs), ...counts].map((count) => hash % count))];
  }

  /** The partitions that may have a claim on a deduplication ID, in the order in which processes ask for it: those that had it before the changes of
   *  the last day, and the present one, by the first version that had each. That order does not depend on the time, so processes whose clocks differ
   *  agree: the first claim in the first of them stands. */
  claimHomesOf(text: string, nowMs: number): number[] {
    const home = this.homeOf(text, nowMs);
    if (this.versions.length === 1) return [home];
    const hash = crc32(text);
    const former = this.versions.flatMap(({ count }, i) => {
      const until = this.versions[i + 1]?.since ?? Number.POSITIVE_INFINITY;
      return until <= nowMs && nowMs - until <= CLAIMS_MS ? [hash % count] : [];
    });
    const asked = new Set([...former, home]);
    // A partition may be the home in several versions; the first of them may be more than a day ago.
    return [...new Set(this.versions.map(({ count }) => hash % count))].filter((one) => asked.has(one));
  }
}
