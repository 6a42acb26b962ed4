/** Puts the worker process together. */
import { type Archive, createArchive } from '../archive/archive.ts';
import { FunctionClient } from '../functions/function-client.ts';
import { StepRequestClient } from '../functions/step-request-client.ts';
import { EventSearch } from '../history/event-search.ts';
import { createHistory } from '../history/history.ts';
import { Searches } from '../history/searches.ts';
import { ArchiveHealth } from '../jobs/archive/archive-health.ts';
import { ArchiveState } from '../jobs/archive/archive-state.ts';
import { Archiver } from '../jobs/archive/archiver.ts';
import type { Migration } from '../jobs/archive/migration.ts';
import { bulkActionWork } from '../jobs/bulk/bulk-action-work.ts';
import { BulkRounds } from '../jobs/bulk/bulk-rounds.ts';
import { cancellationWork } from '../jobs/bulk/cancellation-work.ts';
import { SelectedRuns } from '../jobs/bulk/selected-runs.ts';
import { ConnectCaller } from '../jobs/connect/connect-caller.ts';
import { readLoad } from '../jobs/queues/load.ts';
import { INGEST, RUNS } from '../jobs/queues/queues.ts';
import { ReplayPlanner } from '../jobs/replays/planner.ts';
import { ReplayLoad } from '../jobs/replays/replay-load.ts';
import { replayWork } from '../jobs/replays/replay-work.ts';
import { AppLimits } from '../jobs/runs/app-limits.ts';
import { CallLimiter } from '../jobs/runs/call-limiter.ts';
import { EndpointOrigins } from '../jobs/runs/endpoint-origins.ts';
import { storedGauges } from '../jobs/telemetry/stored-gauges.ts';
import { IssueTeller } from '../jobs/webhooks/issue-teller.ts';
import { FairShares } from '../model/capacity/fair-shares.ts';
import type { Redis } from '../store/redis/connection.ts';
import type { Subscriber } from '../store/redis/pub-sub.ts';
import type { Store } from '../store/store.ts';
import { takeOverOf } from '../workers/take-over.ts';
import { startWorkers, type Workers } from '../workers/workers.ts';
import { retentionDaysOf, retentionsOf } from './archive.ts';
import type { Core } from './core.ts';
import { createIngestion, type Ingestion } from './ingestion.ts';
import { createRunServices } from './runs.ts';
import type { ArchiveDutyDeps, WorkerDutyDeps } from './worker-duties.ts';

export interface WorkerParts {
  ingestion: Ingestion;
  workers: Workers;
  functionClient: FunctionClient;
  connectCaller: ConnectCaller;
  requestClient: StepRequestClient;
  appLimits: AppLimits;
  /** undefined: Redis keeps everything. */
  archive: Archive | undefined;
  dutyDeps: WorkerDutyDeps;
  /** undefined: there is no archive. */
  archiveDutyDeps: ArchiveDutyDeps | undefined;
}

/** The workers take jobs from here on.
 *  @param queueRedis connection of the queues alone
 *  @param subscriber connection of subscriptions alone
 *  @param migration that has been tried */
export async function createWorker(
  core: Core,
  store: Store,
  queueRedis: Redis,
  subscriber: Subscriber,
  migration: Migration,
): Promise<WorkerParts> {
  const { config, log, recorder, metrics, tracing } = core;
  const { environments, environmentKinds, events, runs, steps, checkpoints, waits, signals } = store;
  const { requests, defers } = store;
  const { reconcileAfterMs } = config;
  const queueOptions = { connection: queueRedis };
  const archive = createArchive(config, retentionsOf(config, store), log);
  const history = createHistory(store, archive);
  const ingestion = await createIngestion(core, store, queueOptions);
  const { queues, functions, evaluator, telemetry, durability, acceptor } = ingestion;
  const {
    scheduler,
    transitions,
    waitMatcher,
    starter,
    invocations,
    flowControl,
    decisions,
    admission,
    admittedCalls,
    timeoutTimers,
    timerHandlers,
    restorer,
    retries,
    runStates,
    schedules,
  } = createRunServices(core, store, history, ingestion);

  const appLimits = new AppLimits(config.runConcurrency);
  const connectCaller = new ConnectCaller({
    calls: store.connectCalls,
    channels: store.connectChannels(subscriber),
    timeoutMs: config.callTimeoutMs,
    leaseMs: config.connect.leaseMs,
    onConnection: ({ env, app, concurrency }) => callLimiter.unblock(env, app, concurrency, Date.now()),
    log,
  });
  const endpointOrigins = new EndpointOrigins({ ...config, allowedOrigins: store.allowedOrigins });
  const functionClient = new FunctionClient({
    timeoutMs: config.callTimeoutMs,
    responseMaxBytes: config.callResponseMaxBytes,
    outbound: config.outbound,
    signingKeyOf: (env) => (config.dev ? config.signingKey : store.signingKeys.current(env)),
    kindOf: (env) => environmentKinds.of(env),
    takesLogs: config.runLogs,
    dev: config.dev,
    allowsEndpoint: (env, url) => endpointOrigins.allows(env, url),
    connect: connectCaller,
    onEnd: (env, app, call) => appLimits.record(env, app, call),
    tracing,
  });
  const requestClient = new StepRequestClient({ timeoutMs: config.callTimeoutMs, outbound: config.outbound });
  const shares = new FairShares({ ...config, capacity: config.runConcurrency });
  const promote = (jobId: string) => {
    scheduler
      .promoteDeferred(jobId)
      .catch((error: Error) => log.debug({ err: error.message }, 'a deferred call could not be promoted'));
  };
  const callLimiter = new CallLimiter(shares, appLimits, promote, config.runConcurrency);
  connectCaller.start();
  const workers = startWorkers({
    config,
    queueOptions,
    queues,
    isCluster: queueRedis.isCluster,
    durability,
    handlers: {
      ingest: {
        environments,
        events,
        functions,
        starter,
        waitMatcher,
        evaluator,
        flowControl,
        decisions,
        telemetry,
        replicated: (work) => acceptor.writeReplicated(work),
        archived: archive,
      },
      timers: timerHandlers,
      call: {
        runs,
        steps,
        checkpoints,
        waits,
        signals,
        requests,
        defers,
        functions,
        events,
        functionClient,
        timeoutTimers,
        connectCaller,
        transitions,
        waitMatcher,
        runMetadata: store.runMetadata,
        invocations,
        scheduler,
        telemetry,
        reconcileAfterMs,
        retryScale: config.retryScale,
      },
      wake: { runs, steps, waits, transitions },
      request: {
        runs,
        steps,
        requests,
        transitions,
        requestClient,
        kindOf: (env) => environmentKinds.of(env),
        telemetry,
      },
    },
    callLimiter,
    admittedCalls,
    callOwner: { functions, environmentKinds },
    connector: connectCaller,
    log,
    recorder,
    tracing,
  });
  const load = new ReplayLoad(config.thresholds, () => readLoad(store.redis, queues));
  const archiveHealth = new ArchiveHealth({ archive, archiveStatus: store.archiveStatus, roomMs: undefined, log });
  const archiveState = new ArchiveState({ archiveStatus: store.archiveStatus, recorder, log });
  metrics?.setGaugeSources({
    eventsUncommitted: () => acceptor.unansweredEvents,
    calls: () => {
      const { waiting, deferred } = callLimiter.state;
      return { waiting, deferred, throttledApps: appLimits.throttled().length };
    },
    connectCalls: () => connectCaller.inProgress,
    concurrency: { [INGEST]: config.ingestConcurrency, [RUNS]: config.runConcurrency },
    archiveUp: () => archiveHealth.up,
    stored: storedGauges(store, queues, archive?.hotMs),
  });
  return {
    ingestion,
    workers,
    functionClient,
    connectCaller,
    requestClient,
    appLimits,
    archive,
    dutyDeps: {
      ...store,
      functions,
      history,
      queues,
      telemetry,
      scheduler,
      transitions,
      waitMatcher,
      timeoutTimers,
      admission,
      schedules,
      archive,
      archiveHealth,
      bulkRounds: new BulkRounds({
        works: [
          replayWork({
            ...store,
            planner: new ReplayPlanner({
              history,
              search: new EventSearch({ ...store, archive }),
              functions,
              evaluator,
            }),
            load,
            history,
            starter,
            transitions,
            restoreEvents: (env, eventIds) => restorer.ensure(env, eventIds),
            log,
          }),
          cancellationWork({ ...store, evaluator, transitions }),
          bulkActionWork({
            ...store,
            selectedRuns: new SelectedRuns({
              ...store,
              runs: history.runs,
              runStates,
              searches: new Searches(store, archive, history),
              functionTables: functions,
            }),
            transitions,
            retries,
            load,
          }),
        ],
        environments,
        locks: store.locks,
        log,
      }),
      issueTeller: new IssueTeller({ ...store, acceptor, publicUrl: config.publicUrl }),
      reconcileAfterMs,
      checkMs: 2 * config.stalledAfterMs,
      branchExpiryMs: config.branchExpiryMs,
      log,
    },
    archiveDutyDeps: archive && {
      ...store,
      archive,
      archiver: new Archiver({
        archive,
        store,
        onShipped: ({ events, runs }, ms) => archiveState.recordShipped(events, runs, ms),
      }),
      archiveState,
      migration,
      hotMs: archive.hotMs,
      takenOverMs: 2 * takeOverOf(config.stalledAfterMs).longestMs,
      retentionDays: retentionDaysOf(config),
      auditRetentionDays: config.auditRetentionDays,
      log,
    },
  };
}
