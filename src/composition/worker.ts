/** Composes the worker process. */
import { ArchiveHealth } from '../jobs/archive/archive-health.ts';
import { ArchiveState } from '../jobs/archive/archive-state.ts';
import { Archiver } from '../jobs/archive/archiver.ts';
import type { Migration } from '../jobs/archive/migration.ts';
import { bulkActionWork } from '../jobs/bulk/bulk-action-work.ts';
import { BulkLoad } from '../jobs/bulk/bulk-load.ts';
import { BulkRounds } from '../jobs/bulk/bulk-rounds.ts';
import { cancellationWork } from '../jobs/bulk/cancellation-work.ts';
import type { FollowedClock } from '../jobs/dev-clock/followed-clock.ts';
import { readLoad } from '../jobs/queues/load.ts';
import { INGEST, RUNS } from '../jobs/queues/queues.ts';
import { replayWork } from '../jobs/replays/replay-work.ts';
import { storedGauges } from '../jobs/telemetry/stored-gauges.ts';
import { whatIfWork } from '../jobs/what-if/what-if-work.ts';
import type { Redis } from '../store/redis/connection/connection.ts';
import { takeOverOf } from '../workers/take-over.ts';
import { startWorkers, type Workers } from '../workers/workers.ts';
import { retentionDaysOf } from './archive.ts';
import { CALL_CLIENTS, type CallClientNeeds, type CallClientParts } from './call-clients.ts';
import type { Definitions } from './container.ts';
import { type ClosableOutbox, outboxDeps } from './outbox.ts';
import type { ArchiveDutyDeps } from './worker-duties.ts';

export interface WorkerParts extends CallClientParts {
  workers: Workers;
  bulkLoad: BulkLoad;
  bulkRounds: BulkRounds;
  archiveHealth: ArchiveHealth;
  archiveState: ArchiveState;
  /** undefined without an archive. */
  archiveDutyDeps: ArchiveDutyDeps | undefined;
  /** undefined without an outbox. */
  outboxDeps: ClosableOutbox | undefined;
  versionGoneMs: number;
  branchExpiryMs: number | undefined;
}

export interface WorkerNeeds extends CallClientNeeds {
  migration: Migration;
  /** undefined in production. */
  devClock: FollowedClock | undefined;
}

type Parts = WorkerNeeds & WorkerParts;

export const WORKER: Definitions<WorkerParts, WorkerNeeds> = {
  ...CALL_CLIENTS,
  workers,
  bulkLoad: ({ config, redis, queues }) => new BulkLoad(config.thresholds, () => readLoad(redis, queues)),
  bulkRounds,
  archiveHealth: ({ archive, archiveStatus, log }) =>
    new ArchiveHealth({ archive, archiveStatus, roomMs: undefined, log }),
  archiveState: (parts) => new ArchiveState(parts),
  archiveDutyDeps,
  outboxDeps: { build: outboxDeps, close: (outbox) => outbox?.close() },
  versionGoneMs: ({ config }) => 15 * config.connect.leaseMs,
  branchExpiryMs: ({ config }) => config.branchExpiryMs,
};

/** Workers take jobs of their assigned partitions. */
function workers(parts: Parts): Workers {
  const { config, queueOptions, queues, jobLists, durability, callLimiter, admittedCalls, connectCaller } = parts;
  const { environmentKinds, jobTakers, log, recorder, tracing } = parts;
  const { runs, steps, requests, transitions, requestClient, telemetry } = parts;
  const kindOf = (env: string) => environmentKinds.of(env);
  return startWorkers({
    config,
    queueOptions,
    queues,
    jobLists,
    jobTakers,
    isCluster: (queueOptions.connection as Redis).isCluster,
    durability,
    handlers: {
      ingest: parts,
      timers: parts.timerHandlers,
      call: parts,
      wake: parts,
      request: { runs, steps, requests, transitions, requestClient, kindOf, telemetry },
    },
    callLimiter,
    admittedCalls,
    callOwner: parts,
    connector: connectCaller,
    log,
    recorder,
    telemetry,
    tracing,
  });
}

function bulkRounds(parts: Parts): BulkRounds {
  const {
    store,
    history,
    environments,
    evaluator,
    transitions,
    retries,
    runMoves,
    starter,
    eventRestorer,
    bulkLoad: load,
    locks,
    log,
  } = parts;
  const { replayPlanner: planner, selectedRuns, reruns, functions, candidateClient } = parts;
  const restoreEvents = (env: string, eventIds: readonly string[]) => eventRestorer.ensure(env, eventIds);
  const replays = { ...store, planner, load, history, starter, transitions, restoreEvents, log };
  return new BulkRounds({
    kindsOfWork: [
      replayWork(replays),
      cancellationWork({ ...store, events: history.events, evaluator, transitions }),
      bulkActionWork({ ...store, selectedRuns, reruns, transitions, retries, runMoves, history, load }),
      whatIfWork({ whatIfs: store.whatIfs, history, functions, candidateClient, load }),
    ],
    environments,
    locks,
    log,
  });
}

function archiveDutyDeps(parts: Parts): ArchiveDutyDeps | undefined {
  const { config, store, archive, archiveState, migration, environments, unarchivedRequests, auditLog, log } = parts;
  const { events, offloadedRuns, offloadedRunAlarms, devClock } = parts;
  const { runReturns } = parts.history;
  if (!archive || !runReturns) return undefined;
  return {
    ...{ archive, archiveState, migration, environments, unarchivedRequests, auditLog, log },
    ...{ offloadedRuns, offloadedRunAlarms, events, runReturns, devClock },
    reconcileAfterMs: config.reconcileAfterMs,
    archiver: new Archiver({
      archive,
      store,
      onShipped: ({ events, runs }, ms) => archiveState.recordShipped(events, runs, ms),
    }),
    hotMs: archive.hotMs,
    takenOverMs: 2 * takeOverOf(config.stalledAfterMs).longestMs,
    retentionDays: retentionDaysOf(config),
    auditRetentionDays: config.auditRetentionDays,
  };
}

/** Makes the values available to scrapes. */
export function setWorkerGauges(parts: Parts): void {
  const { processMetrics, config, acceptor, callLimiter, appLimits, connectCaller, archiveHealth, queues } = parts;
  processMetrics?.setGaugeSources({
    eventsUncommitted: () => acceptor.unansweredEvents,
    calls: () => {
      const { waiting, deferred } = callLimiter.state;
      return { waiting, deferred, throttledApps: appLimits.throttled().length };
    },
    connectCalls: () => connectCaller.inProgress,
    concurrency: { [INGEST]: config.ingestConcurrency, [RUNS]: config.runConcurrency },
    archiveUp: () => archiveHealth.up,
    stored: storedGauges(parts, queues, parts.archive?.hotMs),
  });
}
