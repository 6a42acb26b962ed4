/** The queues of every partition. Each partition has all kinds of queues, so that an event's jobs are in the event's partition. */
import type { Keyspace } from '../../store/redis/keyspace/keyspace.ts';
import type { IngestQueue, QueueOptions, RunQueue, TimerQueue } from './queues.ts';

export interface QueueSet {
  readonly ingest: IngestQueue;
  readonly runs: RunQueue;
  readonly timers: TimerQueue;
}

export type SharedQueueOptions = Omit<QueueOptions, 'prefix'>;

export class PartitionQueues {
  readonly #keys: Keyspace;
  readonly #create: (options: { prefix: string }) => QueueSet;
  readonly #sets: QueueSet[] = [];

  constructor(keys: Keyspace, create: (options: { prefix: string }) => QueueSet) {
    this.#keys = keys;
    this.#create = create;
  }

  /** Queues of the partition of an ID: of an event, a run or a run's job. */
  of(id: string): QueueSet {
    return this.partition(this.#keys.of(id).number);
  }

  /** Prefix of BullMQ's keys. */
  prefixOf(n: number): string {
    return this.#keys.partition(n).queues;
  }

  partition(n: number): QueueSet {
    this.#sets[n] ??= this.#create({ prefix: this.prefixOf(n) });
    return this.#sets[n];
  }

  /** Queues in the order of the partitions. */
  all(): QueueSet[] {
    return this.#keys.all().map(({ number }) => this.partition(number));
  }

  async close(): Promise<void> {
    await Promise.all(this.#sets.flatMap(({ ingest, runs, timers }) => [ingest.close(), runs.close(), timers.close()]));
  }
}
