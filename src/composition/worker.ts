/** Composes the worker process. */
import { Database } from '../archive/database.ts';
import { OutboxRows } from '../archive/outbox-rows.ts';
import { OutboxWakes } from '../archive/outbox-wakes.ts';
import { type ConnectTransport, NoConnection } from '../functions/connect/transport.ts';
import { type DestinationData, FunctionClient } from '../functions/function-client.ts';
import { StepRequestClient } from '../functions/step-request-client.ts';
import { AcceptedEvents } from '../history/accepted-events.ts';
import { Originals } from '../history/originals.ts';
import { ArchiveHealth } from '../jobs/archive/archive-health.ts';
import { ArchiveState } from '../jobs/archive/archive-state.ts';
import { Archiver } from '../jobs/archive/archiver.ts';
import type { Migration } from '../jobs/archive/migration.ts';
import { bulkActionWork } from '../jobs/bulk/bulk-action-work.ts';
import { BulkLoad } from '../jobs/bulk/bulk-load.ts';
import { BulkRounds } from '../jobs/bulk/bulk-rounds.ts';
import { cancellationWork } from '../jobs/bulk/cancellation-work.ts';
import { ConnectCaller } from '../jobs/connect/connect-caller.ts';
import type { FollowedClock } from '../jobs/dev-clock/followed-clock.ts';
import type { OutboxDeps } from '../jobs/outbox/duties.ts';
import { OutboxRelay } from '../jobs/outbox/relay.ts';
import { outboxTerms } from '../jobs/outbox/terms.ts';
import { readLoad } from '../jobs/queues/load.ts';
import { INGEST, RUNS } from '../jobs/queues/queues.ts';
import { replayWork } from '../jobs/replays/replay-work.ts';
import { AppLimits } from '../jobs/runs/admission/app-limits.ts';
import { CallLimiter } from '../jobs/runs/admission/call-limiter.ts';
import { storedGauges } from '../jobs/telemetry/stored-gauges.ts';
import { whatIfWork } from '../jobs/what-if/what-if-work.ts';
import { FairShares } from '../model/capacity/fair-shares.ts';
import type { Redis } from '../store/redis/connection/connection.ts';
import type { Subscriber } from '../store/redis/connection/pub-sub.ts';
import { takeOverOf } from '../workers/take-over.ts';
import { startWorkers, type Workers } from '../workers/workers.ts';
import { retentionDaysOf } from './archive.ts';
import type { Definitions } from './container.ts';
import type { IngestionNeeds, IngestionParts } from './ingestion.ts';
import type { RunServices } from './runs.ts';
import type { SelectionParts } from './selection.ts';
import type { ArchiveDutyDeps } from './worker-duties.ts';

export interface WorkerParts {
  appLimits: AppLimits;
  callLimiter: CallLimiter;
  connectCaller: ConnectCaller;
  originals: Originals;
  functionClient: FunctionClient;
  /** For what-ifs: it counts for no limit of apps. */
  candidateClient: FunctionClient;
  requestClient: StepRequestClient;
  workers: Workers;
  load: BulkLoad;
  bulkRounds: BulkRounds;
  archiveHealth: ArchiveHealth;
  archiveState: ArchiveState;
  /** undefined without an archive. */
  archiveDutyDeps: ArchiveDutyDeps | undefined;
  /** undefined without an outbox. */
  outboxDeps: (OutboxDeps & { close(): Promise<void> }) | undefined;
  checkMs: number;
  versionGoneMs: number;
  branchExpiryMs: number | undefined;
}

export interface WorkerNeeds extends IngestionNeeds, IngestionParts, RunServices, SelectionParts {
  /** Connection used only for subscriptions. */
  subscriber: Subscriber;
  migration: Migration;
  /** undefined in production. */
  devClock: FollowedClock | undefined;
}

type Parts = WorkerNeeds & WorkerParts;

/** A call to a candidate only plans. */
const CANDIDATE_TIMEOUT_MS = 15_000;

/** Connections of a worker, besides the connection that listens. */
const OUTBOX_CONNECTIONS = 2;

/** A candidate has a URL. */
const NO_CONNECTIONS: ConnectTransport = {
  call: () => Promise.reject(new NoConnection()),
  abandon() {},
};

/** A candidate is an app. */
const NO_DESTINATIONS: DestinationData = {
  secretsOf: () => ({ signing: [], headers: {} }),
  originalOf: async () => undefined,
};

export const WORKER: Definitions<WorkerParts, WorkerNeeds> = {
  appLimits: ({ config }) => new AppLimits(config.runConcurrency),
  callLimiter,
  connectCaller: { build: connectCaller, close: (caller) => caller.close() },
  originals: (parts) => new Originals(parts),
  functionClient: { build: functionClient, close: (client) => client.close() },
  candidateClient: { build: candidateClient, close: (client) => client.close() },
  requestClient: {
    build: ({ config }) => new StepRequestClient({ timeoutMs: config.callTimeoutMs, outbound: config.outbound }),
    close: (client) => client.close(),
  },
  workers,
  load: ({ config, redis, queues }) => new BulkLoad(config.thresholds, () => readLoad(redis, queues)),
  bulkRounds,
  archiveHealth: ({ archive, archiveStatus, log }) =>
    new ArchiveHealth({ archive, archiveStatus, roomMs: undefined, log }),
  archiveState: (parts) => new ArchiveState(parts),
  archiveDutyDeps,
  outboxDeps: { build: outboxDeps, close: (outbox) => outbox?.close() },
  checkMs: ({ config }) => 2 * config.stalledAfterMs,
  versionGoneMs: ({ config }) => 15 * config.connect.leaseMs,
  branchExpiryMs: ({ config }) => config.branchExpiryMs,
};

function callLimiter({ config, appLimits, scheduler, log }: Parts): CallLimiter {
  const shares = new FairShares({ ...config, capacity: config.runConcurrency });
  const promote = (jobId: string) => {
    scheduler
      .promoteDeferred(jobId)
      .catch((error: Error) => log.debug({ err: error.message }, 'a deferred call could not be promoted'));
  };
  return new CallLimiter(shares, appLimits, promote, config.runConcurrency);
}

function connectCaller(parts: Parts): ConnectCaller {
  const { ids, config, connectCalls, connectChannels, subscriber, log } = parts;
  const caller = new ConnectCaller({
    ids,
    calls: connectCalls,
    channels: connectChannels(subscriber),
    timeoutMs: config.callTimeoutMs,
    leaseMs: config.connect.leaseMs,
    onConnection: ({ env, app, concurrency }) => parts.callLimiter.unblock(env, app, concurrency, Date.now()),
    log,
  });
  caller.start();
  return caller;
}

function functionClient(parts: Parts): FunctionClient {
  const { config, signingKeys, environmentKinds, endpointOrigins, connectCaller, appLimits, tracing } = parts;
  const { destinations, originals } = parts;
  return new FunctionClient({
    timeoutMs: config.callTimeoutMs,
    responseMaxBytes: config.callResponseMaxBytes,
    outbound: config.outbound,
    signingKeyOf: (env) => (config.dev ? config.signingKey : signingKeys.current(env)),
    kindOf: (env) => environmentKinds.of(env),
    takesLogs: config.runLogs,
    dev: config.dev,
    allowsEndpoint: (env, url) => endpointOrigins.allows(env, url),
    connect: connectCaller,
    destinations: {
      secretsOf: (env, fn) => destinations.secretsOf(env, fn, Date.now()),
      originalOf: (webhookId, requestId) => originals.read(webhookId, requestId),
    },
    onEnd: (env, app, call) => appLimits.record(env, app, call),
    tracing,
  });
}

function candidateClient({ config, signingKeys, environmentKinds }: Parts): FunctionClient {
  return new FunctionClient({
    timeoutMs: Math.min(config.callTimeoutMs, CANDIDATE_TIMEOUT_MS),
    responseMaxBytes: config.callResponseMaxBytes,
    outbound: config.outbound,
    signingKeyOf: (env) => (config.dev ? config.signingKey : signingKeys.current(env)),
    kindOf: (env) => environmentKinds.of(env),
    takesLogs: false,
    dev: config.dev,
    allowsEndpoint: async () => false,
    connect: NO_CONNECTIONS,
    destinations: NO_DESTINATIONS,
  });
}

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
    restorer,
    load,
    locks,
    log,
  } = parts;
  const { replayPlanner: planner, selectedRuns, reruns, functions, candidateClient } = parts;
  const restoreEvents = (env: string, eventIds: readonly string[]) => restorer.ensure(env, eventIds);
  const replays = { ...store, planner, load, history, starter, transitions, restoreEvents, log };
  return new BulkRounds({
    works: [
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
  const { devClock } = parts;
  const { runReturns } = parts.history;
  if (!archive || !runReturns) return undefined;
  return {
    ...{ archive, archiveState, migration, environments, unarchivedRequests, auditLog, log },
    ...{ offloadedRuns: store.offloadedRuns, events: store.events, runReturns, devClock },
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

function outboxDeps(parts: Parts): (OutboxDeps & { close(): Promise<void> }) | undefined {
  const { config, redis, queues, history, queuedEvents, environments, installationLimits, acceptor, log } = parts;
  if (!config.outbox) return undefined;
  const { environment: env, url, tlsVerify } = config.outbox;
  const database = new Database({ url, tlsVerify, poolSize: OUTBOX_CONNECTIONS }, log, 'tidegate outbox');
  const outboxRows = new OutboxRows(database);
  const terms = outboxTerms({
    env,
    config,
    environments,
    installationLimits,
    redis,
    load: () => readLoad(redis, queues),
    retentionDays: retentionDaysOf(config),
  });
  const acceptedEvents = new AcceptedEvents(history.events, queuedEvents);
  return {
    outboxRows,
    outboxWakes: new OutboxWakes({ url, tlsVerify }),
    outboxRelay: new OutboxRelay({ rows: outboxRows, acceptor, acceptedEvents, terms }),
    outboxStatus: parts.outboxStatus,
    outboxEnvironment: env,
    runs: history.runs,
    close: () => database.close(),
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
