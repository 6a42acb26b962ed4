/** The worker process: ingests events and calls functions. Any number of them may run; any may die at any time. */

import { startTelemetry } from '../jobs/telemetry/telemetry.ts';
import { newId } from '../model/ids.ts';
import { connect, ready } from '../store/redis/connection.ts';
import { connectSubscriber } from '../store/redis/pub-sub.ts';
import { createStore } from '../store/store.ts';
import { startDayMaintenance, startMigrations } from '../workers/archive-maintenance.ts';
import { startArchiving } from '../workers/archiving.ts';
import { startAdoption, startBulkOperations } from '../workers/bulk-operations.ts';
import { startLogArchiving } from '../workers/log-archiving.ts';
import {
  startAdmissionChecks,
  startBranchMaintenance,
  startEndFinisher,
  startPartitionSharing,
  startReconciler,
  startScheduleReconciler,
} from '../workers/maintenance.ts';
import { startWebhookWatching } from '../workers/webhook-watching.ts';
import { startCore } from './core.ts';
import { type Running, type StartOptions, startOrFail } from './start-options.ts';
import { createWorker } from './worker.ts';

/** Settings and metrics first, then Redis, then the workers, then what runs at intervals.
 *  @throws ConfigError when a setting, or what it names, prevents the start */
export function startWorker(options: StartOptions): Promise<Running> {
  return startOrFail((fail) => start(options, fail), options.onFailure);
}

async function start({ config, log, group, onClosable }: StartOptions, fail: (error: Error) => void): Promise<Running> {
  const core = await startCore('worker', config, log, group);
  const redis = connect(config, 'wait', log);
  // The queues have a connection of their own: ioredis copies every script of a connection into every pipeline, and
  // BullMQ brings fifty.
  const queueRedis = connect(config, 'wait', log);
  const store = createStore(redis, config);
  const subscriber = connectSubscriber(config, { redis, key: store.keys.cacheInvalidation }, log);
  await Promise.all([ready(redis), ready(queueRedis), ready(subscriber)]);
  await store.partitions.follow(fail);
  const migrations = config.archive && config.dev ? await startMigrations(config.archive, log) : undefined;
  await store.secretKeyCheck.claim();
  const {
    ingestion,
    workers,
    functionClient,
    connectCaller,
    requestClient,
    appLimits,
    reconcileDeps,
    branchDeps,
    bulkRounds,
    admissionDeps,
    unfinishedEndDeps,
    schedules,
    archive,
    logArchivingDeps,
    archiveHealth,
    dayDeps,
    archiver,
    archiveState,
    webhookWatchingDeps,
  } = await createWorker(core, store, queueRedis, subscriber);
  const processId = newId();
  // Without other workers until their heartbeats are read.
  workers.assign(store.partitions.layout.count === 1 ? [0] : []);
  await workers.ready();
  const reconciler = startReconciler(reconcileDeps, () => workers.partitions);
  const endFinisher = startEndFinisher(unfinishedEndDeps, () => workers.partitions);
  const branchMaintenance = startBranchMaintenance(branchDeps, config.branchExpiryMs);
  const admissionChecks = startAdmissionChecks(admissionDeps, () => workers.partitions, log);
  const bulkOperations = startBulkOperations(bulkRounds, log);
  const adoption = startAdoption(store, log);
  const archiving =
    archiver &&
    archive &&
    startArchiving(
      {
        archiver,
        state: archiveState,
        locks: store.locks,
        log,
        hotMs: archive.hotMs,
        stalledAfterMs: config.stalledAfterMs,
      },
      () => workers.partitions,
    );
  const logArchiving = startLogArchiving(logArchivingDeps, () => workers.partitions);
  const scheduleReconciler = startScheduleReconciler(schedules, store.locks, log);
  const webhookWatching = startWebhookWatching(webhookWatchingDeps, () => workers.partitions);
  archiveHealth.start();
  const dayMaintenance = startDayMaintenance(dayDeps);
  const reporter = startTelemetry({
    telemetry: ingestion.telemetry,
    processes: store.processes,
    id: processId,
    kind: core.kind,
    log,
    status: () => ({ slowedApps: appLimits.throttled(), runConcurrency: config.runConcurrency }),
  });

  const partitionSharing = startPartitionSharing({ ...store, workers }, processId, log);

  // Shutdown: no new jobs, wait for calls in flight, send the last telemetry, disconnect.
  const close = async () => {
    const { queues, durability } = ingestion;
    archiveHealth.close();
    await partitionSharing.close();
    const periodic = [
      reconciler,
      endFinisher,
      scheduleReconciler,
      branchMaintenance,
      bulkOperations,
      adoption,
      admissionChecks,
      dayMaintenance,
      migrations,
      archiving,
      logArchiving,
      webhookWatching,
    ];
    await Promise.all([workers, ...periodic].map((part) => part?.close()));
    await Promise.all([reporter.close(), connectCaller.close()]);
    await Promise.all([queues.close(), functionClient.close(), requestClient.close(), core.metricsServer?.close()]);
    durability?.close();
    redis.disconnect();
    queueRedis.disconnect();
    subscriber.disconnect();
    await archive?.database.close();
    await core.tracing?.close();
  };
  onClosable?.(close);
  return { ports: core.metricsServer ? { metricsPort: core.metricsServer.port } : {}, close };
}
