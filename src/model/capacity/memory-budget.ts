/** A memory budget for large objects, such as request bodies. Callers reserve memory before they read. It is limited
 *  in total and per group, such as a webhook. */
export interface MemoryLimits {
  bytes: number;
  /** Maximum per group; a larger reservation gets this much. */
  bytesOfGroup: number;
  /** How many of one group may wait with a time limit; more are refused immediately. */
  waitingOfGroup: number;
}

/** Releases the memory; idempotent. */
export type Release = () => void;

interface Waiting {
  group: string;
  bytes: number;
  start: (release: Release) => void;
}

export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #inGroup = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #reserved = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Reserves memory, first come, first served.
   *  @param maxMs undefined: waits until there is room, however many others wait
   *  @returns undefined: there was none within this time */
  async reserve(group: string, bytes: number, maxMs?: number): Promise<Release | undefined> {
    const wanted = Math.min(bytes, this.#limits.bytesOfGroup);
    if (this.#waiting.size === 0 && this.#fitsInGroup(group, wanted) && this.#fits(wanted))
      return this.#take(group, wanted);
    if (maxMs !== undefined && this.#waitingOf(group) >= this.#limits.waitingOfGroup) return undefined;
    return new Promise((resolve) => {
      const timer = maxMs === undefined ? undefined : setTimeout(() => giveUp(), maxMs);
      const waiting: Waiting = {
        group,
        bytes: wanted,
        start(release) {
          clearTimeout(timer);
          resolve(release);
        },
      };
      const giveUp = () => {
        this.#waiting.delete(waiting);
        resolve(undefined);
        // Others may have waited behind it.
        this.#startWaiting();
      };
      this.#waiting.add(waiting);
      this.#startWaiting();
    });
  }

  #waitingOf(group: string): number {
    let count = 0;
    for (const waiting of this.#waiting) if (waiting.group === group) count += 1;
    return count;
  }

  #startWaiting(): void {
    for (const waiting of this.#waiting) {
      const { group, bytes, start } = waiting;
      if (!this.#fitsInGroup(group, bytes)) continue;
      // A larger one would never have its turn if smaller ones overtook it.
      if (!this.#fits(bytes)) return;
      this.#waiting.delete(waiting);
      start(this.#take(group, bytes));
    }
  }

  #fitsInGroup(group: string, bytes: number): boolean {
    return (this.#inGroup.get(group) ?? 0) + bytes <= this.#limits.bytesOfGroup;
  }

  #fits(bytes: number): boolean {
    return this.#reserved + bytes <= this.#limits.bytes;
  }

  #take(group: string, bytes: number): Release {
    let isReserved = true;
    this.#change(group, bytes);
    return () => {
      if (!isReserved) return;
      isReserved = false;
      this.#change(group, -bytes);
      this.#startWaiting();
    };
  }

  #change(group: string, bytes: number): void {
    this.#reserved += bytes;
    const inGroup = (this.#inGroup.get(group) ?? 0) + bytes;
    if (inGroup === 0) this.#inGroup.delete(group);
    else this.#inGroup.set(group, inGroup);
  }
}
