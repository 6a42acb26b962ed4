/** Parts that accept and ingest events, shared by web and worker. */
import { Acceptor } from '../jobs/acceptance/acceptor.ts';
import { TracedAcceptor } from '../jobs/acceptance/traced-acceptor.ts';
import { ExpressionEvaluator } from '../jobs/functions/expression-evaluator.ts';
import { FunctionTables } from '../jobs/functions/function-tables.ts';
import { ClaimedJobs } from '../jobs/queues/claimed-jobs.ts';
import { PartitionQueues, type SharedQueueOptions } from '../jobs/queues/partition-queues.ts';
import { createIngestQueue, createRunQueue, createTimerQueue } from '../jobs/queues/queues.ts';
import { Telemetry } from '../jobs/telemetry/telemetry.ts';
import { IssueNotifier } from '../jobs/webhooks/issue-notifier.ts';
import type { Durability } from '../store/redis/durability/durable-write.ts';
import type { BaseParts } from './base.ts';
import type { Definitions } from './container.ts';

export interface IngestionParts {
  queues: PartitionQueues;
  claimedJobs: ClaimedJobs;
  functions: FunctionTables;
  evaluator: ExpressionEvaluator;
  telemetry: Telemetry;
  acceptor: Acceptor;
  publicUrl: string | undefined;
  issueNotifier: IssueNotifier;
}

export interface IngestionNeeds extends BaseParts {
  queueOptions: SharedQueueOptions;
  /** undefined: Redis's reply is enough. */
  durability: Durability | undefined;
}

export const INGESTION: Definitions<IngestionParts, IngestionNeeds> = {
  queues: { build: createQueues, close: (queues) => queues.close() },
  claimedJobs: ({ redis, keys, queues }) => new ClaimedJobs(redis, keys, queues),
  functions: ({ storedFunctions, appVersions }) =>
    new FunctionTables({ functions: storedFunctions, versions: appVersions }),
  evaluator: ({ expressionProblems, log, recorder }) =>
    new ExpressionEvaluator({ problems: expressionProblems, log, recorder }),
  telemetry: (parts) => new Telemetry(parts),
  acceptor: (parts) => (parts.tracing ? new TracedAcceptor(parts, parts.tracing) : new Acceptor(parts)),
  publicUrl: ({ config }) => config.publicUrl,
  issueNotifier: (parts) => new IssueNotifier(parts),
};

function createQueues({ keys, queueOptions, tracing, log }: IngestionNeeds): PartitionQueues {
  return new PartitionQueues(keys, ({ prefix }) => {
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
}
