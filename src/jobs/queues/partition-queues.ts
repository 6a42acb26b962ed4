/** The queues of every partition: a pair in each, so that the jobs of an event are where the event is. */
import type { Keyspace } from '../../store/redis/keyspace.ts';
import type { IngestQueue, QueueOptions, RunQueue } from './queues.ts';

export interface QueuePair {
  readonly ingest: IngestQueue;
  readonly runs: RunQueue;
}

export type SharedQueueOptions = Omit<QueueOptions, 'prefix'>;

export class PartitionQueues {
  readonly #keys: Keyspace;
  readonly #create: (options: { prefix: string }) => QueuePair;
  readonly #pairs: QueuePair[] = [];

  constructor(keys: Keyspace, create: (options: { prefix: string }) => QueuePair) {
    this.#keys = keys;
    this.#create = create;
  }

  /** Of the partition that an ID names: of an event, a run, or a job of a run. */
  of(id: string): QueuePair {
    return this.partition(this.#keys.of(id).number);
  }

  /** Prefix of the keys that BullMQ makes. */
  prefixOf(n: number): string {
    return this.#keys.partition(n).queues;
  }

  partition(n: number): QueuePair {
    this.#pairs[n] ??= this.#create({ prefix: this.prefixOf(n) });
    return this.#pairs[n];
  }

  /** In the order of the partitions. */
  all(): QueuePair[] {
    return this.#keys.all().map(({ number }) => this.partition(number));
  }

  async close(): Promise<void> {
    await Promise.all(this.#pairs.flatMap(({ ingest, runs }) => [ingest.close(), runs.close()]));
  }
}
