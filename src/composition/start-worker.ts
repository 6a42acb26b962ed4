/** The worker process: ingests events and calls functions. Any number of them may run; any may die at any time. */
import { DutyRunner } from '../duties/runner.ts';
import { Migration } from '../jobs/archive/migration.ts';
import { returning } from '../jobs/archive/offload-returns.ts';
import { FollowedClock } from '../jobs/dev-clock/followed-clock.ts';
import { reconciliation } from '../jobs/runs/scheduling/reconcile.ts';
import { TELEMETRY_DUTIES } from '../jobs/telemetry/duties.ts';
import { newId } from '../model/ids.ts';
import { connect, ready } from '../store/redis/connection/connection.ts';
import { CONNECTIONS } from '../store/redis/connection/connections.ts';
import { connectSubscriber, type Subscriber } from '../store/redis/connection/pub-sub.ts';
import { durabilityOf } from '../store/redis/durability/durability.ts';
import { createStore } from '../store/store.ts';
import { ALERTS } from './alerts.ts';
import { baseParts } from './base.ts';
import { Container } from './container.ts';
import { startCore } from './core.ts';
import { INGESTION } from './ingestion.ts';
import { RUN_SERVICES } from './runs.ts';
import { SELECTION } from './selection.ts';
import { type Running, type Starting, type StartOptions, startOrFail } from './start-options.ts';
import { setWorkerGauges, WORKER } from './worker.ts';
import { ARCHIVE_DUTIES, OUTBOX_DUTIES, PARTITION_DUTIES, WORKER_DUTIES } from './worker-duties.ts';

/** Settings and metrics first, then Redis, then the workers, then the duties.
 *  @throws ConfigError when a setting, or what it names, prevents the start */
export function startWorker(options: StartOptions): Promise<Running> {
  return startOrFail(start, options);
}

async function start(options: StartOptions & Starting): Promise<Running> {
  const { config, log, onClosable, opened } = options;
  const core = await startCore('worker', options);
  const connected = <Connection extends Subscriber>(connection: Connection): Connection => {
    opened.add({ close: () => connection.disconnect() });
    return connection;
  };
  const redis = connected(connect(config, CONNECTIONS.commands.worker, log));
  // Queues have a separate connection: ioredis copies every script of a connection into every pipeline, and BullMQ adds fifty.
  const queueRedis = connected(connect(config, CONNECTIONS.queues.worker, log));
  const store = createStore(redis, config);
  const subscriber = connected(connectSubscriber(config, { redis, key: store.keys.cacheInvalidation }, log));
  if (core.metricsServer) opened.add(core.metricsServer);
  await Promise.all([ready(redis), ready(queueRedis), ready(subscriber)]);
  await store.partitions.follow(options.fail);
  const devClock = FollowedClock.of({ redis, keys: store.keys, subscriber, runCounts: core.runCounts });
  if (devClock) opened.add(devClock);
  await devClock?.follow();
  const migration = new Migration(config.dev ? config.archive : undefined, log);
  await migration.run();
  await store.secretKeyCheck.claim();

  const durability = await durabilityOf(config, { ...store, queueRedis }, log);
  if (durability) opened.add(durability);
  const base = baseParts(core, store);
  if (base.archive) opened.add(base.archive.database);
  const given = { queueOptions: { connection: queueRedis }, durability, subscriber, migration, devClock };
  const container = new Container({ ...base, ...given })
    .with(INGESTION)
    .with(RUN_SERVICES)
    .with(SELECTION)
    .with(ALERTS)
    .with(WORKER);
  const { parts } = opened.add(container);
  const { workers, appLimits } = parts;
  setWorkerGauges(parts);
  const processId = newId();
  const duties = new DutyRunner({ ...store, partitions: () => workers.partitions, recorder: core.recorder, log });
  const reporting = {
    telemetry: parts.telemetry,
    processes: store.processes,
    processId,
    kind: core.kind,
    status: () => ({ slowedApps: appLimits.throttled(), runConcurrency: config.runConcurrency }),
  };
  opened.add(duties.start(TELEMETRY_DUTIES, reporting));
  const working: Pick<Running, 'close'>[] = [workers];
  opened.add({ close: () => Promise.all(working.map((part) => part.close())) });
  // Works on the only partition immediately; otherwise waits for the heartbeats of other workers.
  workers.assign(store.partitions.layout.count === 1 ? [0] : []);
  await workers.ready();
  working.push(duties.start(WORKER_DUTIES, parts));
  if (parts.archiveDutyDeps) working.push(duties.start(ARCHIVE_DUTIES, parts.archiveDutyDeps));
  if (parts.outboxDeps) working.push(duties.start(OUTBOX_DUTIES, parts.outboxDeps));
  devClock?.onAlarms(async () => {
    const rounds = [reconciliation.name];
    // A run may move to Postgres meanwhile. Runs that the first round still finds in Redis have their wake-ups then.
    if (parts.archiveDutyDeps) rounds.push(returning.name, reconciliation.name);
    for (const name of rounds) await duties.runNow(name);
  });
  opened.add(duties.start(PARTITION_DUTIES, { ...store, workers, processId, log }));
  duties.logStarted();
  /** Takes no new jobs, waits for calls in flight, sends the last telemetry, disconnects. */
  const close = () => opened.close();
  onClosable?.(close);
  return { ports: core.metricsServer ? { metricsPort: core.metricsServer.port } : {}, duties, close };
}
