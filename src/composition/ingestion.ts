/** The parts that accept and ingest events, the same in web and worker. */
import { Acceptor } from '../jobs/ingestion/acceptor.ts';
import { ExpressionEvaluator } from '../jobs/ingestion/expression-evaluator.ts';
import { FunctionTables } from '../jobs/ingestion/function-tables.ts';
import { TracedAcceptor } from '../jobs/ingestion/traced-acceptor.ts';
import { ClaimedJobs } from '../jobs/queues/claimed-jobs.ts';
import { PartitionQueues, type SharedQueueOptions } from '../jobs/queues/partition-queues.ts';
import { createIngestQueue, createRunQueue, createTimerQueue } from '../jobs/queues/queues.ts';
import { Telemetry } from '../jobs/telemetry/telemetry.ts';
import type { Redis } from '../store/redis/connection.ts';
import { durabilityOf } from '../store/redis/durability.ts';
import type { Durability } from '../store/redis/durable-write.ts';
import type { Store } from '../store/store.ts';
import type { Core } from './core.ts';

export interface Ingestion {
  queues: PartitionQueues;
  functions: FunctionTables;
  evaluator: ExpressionEvaluator;
  telemetry: Telemetry;
  /** undefined: the answer of Redis is enough. */
  durability: Durability | undefined;
  acceptor: Acceptor;
}

/** @throws ConfigError when Redis is not configured as durably as INGEST_DURABILITY demands */
export async function createIngestion(
  { config, log, recorder, tracing }: Core,
  store: Store,
  queueOptions: SharedQueueOptions,
): Promise<Ingestion> {
  const queues = new PartitionQueues(store.keys, ({ prefix }) => {
    const options = { ...queueOptions, prefix };
    const set = {
      ingest: createIngestQueue(options),
      runs: createRunQueue(options, tracing?.jobs),
      timers: createTimerQueue(options),
    };
    for (const queue of Object.values(set)) {
      queue.on('error', (error) => log.debug({ queue: queue.name, prefix, err: error.message }, 'queue error'));
    }
    return set;
  });
  const durability = await durabilityOf(config, { ...store, queueRedis: queueOptions.connection as Redis }, log);
  const acceptorDeps = {
    partitions: store.partitions,
    deduplication: store.deduplication,
    claimedJobs: new ClaimedJobs(store.redis, store.keys, queues),
    queues,
    recorder,
    durability,
  };
  return {
    queues,
    functions: new FunctionTables(store.functions),
    evaluator: new ExpressionEvaluator(store.expressionProblems, log, recorder),
    telemetry: new Telemetry({ ...store, recorder }),
    durability,
    acceptor: tracing ? new TracedAcceptor(acceptorDeps, tracing) : new Acceptor(acceptorDeps),
  };
}
