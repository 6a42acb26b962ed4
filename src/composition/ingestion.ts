/** The parts that accept and ingest events, the same in web and worker. */
import { Acceptor } from '../jobs/ingestion/acceptor.ts';
import { ExpressionEvaluator } from '../jobs/ingestion/expression-evaluator.ts';
import { FunctionTables } from '../jobs/ingestion/function-tables.ts';
import { TracedAcceptor } from '../jobs/ingestion/traced-acceptor.ts';
import {
  createIngestQueue,
  createRunQueue,
  type IngestQueue,
  type QueueOptions,
  type RunQueue,
} from '../jobs/queues/queues.ts';
import { Telemetry } from '../jobs/telemetry/telemetry.ts';
import { type Durability, durabilityOf } from '../store/redis/durability.ts';
import type { Store } from '../store/store.ts';
import type { Core } from './core.ts';

export interface Ingestion {
  ingestQueue: IngestQueue;
  runQueue: RunQueue;
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
  queueOptions: QueueOptions,
): Promise<Ingestion> {
  const ingestQueue = createIngestQueue(queueOptions);
  const runQueue = createRunQueue(queueOptions, tracing?.jobs);
  for (const queue of [ingestQueue, runQueue]) {
    queue.on('error', (error) => log.debug({ queue: queue.name, err: error.message }, 'queue error'));
  }
  const durability = await durabilityOf(config, store.redis, log);
  const acceptorDeps = { deduplication: store.deduplication, queue: ingestQueue, recorder, durability };
  return {
    ingestQueue,
    runQueue,
    functions: new FunctionTables(store.functions),
    evaluator: new ExpressionEvaluator(store.expressionProblems, log, recorder),
    telemetry: new Telemetry({ metrics: store.metrics, liveUpdates: store.liveUpdates, recorder }),
    durability,
    acceptor: tracing ? new TracedAcceptor(acceptorDeps, tracing) : new Acceptor(acceptorDeps),
  };
}
