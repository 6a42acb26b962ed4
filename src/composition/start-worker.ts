/** The worker process: ingests events and calls functions. Any number of them may run; any may die at any time. */
import { DutyRunner } from '../duties/runner.ts';
import { Migration } from '../jobs/archive/migration.ts';
import { TELEMETRY_DUTIES } from '../jobs/telemetry/duties.ts';
import { newId } from '../model/ids.ts';
import { connect, ready } from '../store/redis/connection.ts';
import { durabilityOf } from '../store/redis/durability.ts';
import { connectSubscriber } from '../store/redis/pub-sub.ts';
import { createStore } from '../store/store.ts';
import { baseParts } from './base.ts';
import { Container } from './container.ts';
import { startCore } from './core.ts';
import { INGESTION } from './ingestion.ts';
import { RUN_SERVICES } from './runs.ts';
import { SELECTION } from './selection.ts';
import { type Running, type StartOptions, startOrFail } from './start-options.ts';
import { setWorkerGauges, WORKER } from './worker.ts';
import { ARCHIVE_DUTIES, PARTITION_DUTIES, WORKER_DUTIES } from './worker-duties.ts';

/** Settings and metrics first, then Redis, then the workers, then the duties.
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
  const migration = new Migration(config.dev ? config.archive : undefined, log);
  await migration.run();
  await store.secretKeyCheck.claim();

  const durability = await durabilityOf(config, { ...store, queueRedis }, log);
  const given = { queueOptions: { connection: queueRedis }, durability, subscriber, migration };
  const container = new Container({ ...baseParts(core, store), ...given })
    .with(INGESTION)
    .with(RUN_SERVICES)
    .with(SELECTION)
    .with(WORKER);
  const { parts } = container;
  const { workers, appLimits } = parts;
  setWorkerGauges(parts);
  const processId = newId();
  // Without other workers until their heartbeats are read.
  workers.assign(store.partitions.layout.count === 1 ? [0] : []);
  await workers.ready();
  const duties = new DutyRunner({ ...store, partitions: () => workers.partitions, recorder: core.recorder, log });
  const reporting = duties.start(TELEMETRY_DUTIES, {
    telemetry: parts.telemetry,
    processes: store.processes,
    processId,
    kind: core.kind,
    status: () => ({ slowedApps: appLimits.throttled(), runConcurrency: config.runConcurrency }),
  });
  const working = [
    workers,
    duties.start(WORKER_DUTIES, parts),
    ...(parts.archiveDutyDeps ? [duties.start(ARCHIVE_DUTIES, parts.archiveDutyDeps)] : []),
  ];
  const sharing = duties.start(PARTITION_DUTIES, { ...store, workers, processId, log });

  /** No new jobs, wait for calls in flight, send the last telemetry, disconnect. */
  const close = async () => {
    await sharing.close();
    await Promise.all(working.map((part) => part.close()));
    await reporting.close();
    await container.close();
    await core.metricsServer?.close();
    durability?.close();
    redis.disconnect();
    queueRedis.disconnect();
    subscriber.disconnect();
    await parts.archive?.database.close();
    await core.tracing?.close();
  };
  onClosable?.(close);
  return { ports: core.metricsServer ? { metricsPort: core.metricsServer.port } : {}, duties, close };
}
