/** Timers of batches and debounces. One timer looks at all that is due of a function in a partition, a portion at a time, so that 100,000 open batches need
 *  no timers of their own, and hold up no other function's. */
import type { Look } from '../../store/flow-control/looks.ts';
import type { PartitionQueues } from '../queues/partition-queues.ts';
import type { BatchTimer, DebounceTimer } from '../queues/queues.ts';

/** What the looks are at. */
interface LookedAt {
  recordLook(look: Look): Promise<void>;
  waiting(env: string, functionIds: readonly string[]): Promise<{ functionId: string; partition: number }[]>;
}

type Kind = (BatchTimer | DebounceTimer)['kind'];

export class Looks {
  readonly #queues: PartitionQueues;
  readonly #stores: Record<Kind, LookedAt>;

  constructor(queues: PartitionQueues, stores: Record<Kind, LookedAt>) {
    this.#queues = queues;
    this.#stores = stores;
  }

  /** First the job, then its record: if the process dies in between, the next script asks for it again. */
  async set(kind: Kind, env: string, functionId: string, looks: readonly Look[]): Promise<void> {
    for (const look of looks) {
      await this.#enqueue(kind, env, functionId, look);
      await this.#stores[kind].recordLook(look);
    }
  }

  /** Looks now at what waits for functions that were registered anew: their options may have changed. */
  async lookNow(env: string, functionIds: readonly string[]): Promise<void> {
    if (functionIds.length === 0) return;
    for (const [kind, store] of Object.entries(this.#stores) as [Kind, LookedAt][]) {
      const waiting = await store.waiting(env, functionIds);
      await Promise.all(
        waiting.map(({ functionId, partition }) => this.#enqueue(kind, env, functionId, { partition, delayMs: 0 })),
      );
    }
  }

  async #enqueue(
    kind: Kind,
    env: string,
    functionId: string,
    { partition, delayMs }: Pick<Look, 'partition' | 'delayMs'>,
  ): Promise<void> {
    const { timers } = this.#queues.partition(partition);
    await timers.add(kind, { kind, env, functionId, partition }, delayMs > 0 ? { delay: delayMs } : {});
  }
}
