/** Timers of event groups. One timer handles everything that is due for a function in a partition, a portion at a time, so that
 *  100,000 open batches need no timers of their own, and do not delay other functions. */
import { Composed } from '../../model/values/composed.ts';
import type { TimerCheck } from '../../store/flow-control/timer-checks.ts';
import type { PartitionQueues } from '../queues/partition-queues.ts';
import type { EventGroupTimer } from '../queues/queues.ts';

interface GroupStore {
  recordTimerCheck(timerCheck: TimerCheck): Promise<void>;
  waiting(env: string, functionIds: readonly string[]): Promise<{ functionId: string; partition: number }[]>;
}

type Kind = EventGroupTimer['kind'];

export class TimerChecks extends Composed<{ queues: PartitionQueues; stores: Record<Kind, GroupStore> }> {
  /** Adds the job first, then its record: if the process dies in between, the next script requests the check again. */
  async set(kind: Kind, env: string, functionId: string, timerChecks: readonly TimerCheck[]): Promise<void> {
    for (const timerCheck of timerChecks) {
      await this.#enqueue(kind, env, functionId, timerCheck);
      await this.deps.stores[kind].recordTimerCheck(timerCheck);
    }
  }

  /** Adds checks that are due immediately for functions that were registered again, because their options may have changed.
   *  @param functionIds IDs of functions; for lanes also of webhooks */
  async checkNow(env: string, functionIds: readonly string[]): Promise<void> {
    if (functionIds.length === 0) return;
    for (const [kind, store] of Object.entries(this.deps.stores) as [Kind, GroupStore][]) {
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
    { partition, delayMs, at }: Pick<TimerCheck, 'partition' | 'delayMs'> & Partial<Pick<TimerCheck, 'at'>>,
  ): Promise<void> {
    const { timers } = this.deps.queues.partition(partition);
    const timer = { kind, env, functionId, partition, ...(at !== undefined && { at }) };
    await timers.add(kind, timer, delayMs > 0 ? { delay: delayMs } : {});
  }
}
