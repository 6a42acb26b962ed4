/** The worker process: ingests events and calls functions. Any number of them may run; any may die at any time. */
import { readConfig } from './config.ts';
import { FunctionCaller } from './functions/caller.ts';
import { SILENT } from './instruments/meter.ts';
import { startInstruments } from './instruments/start.ts';
import { Acceptor } from './jobs/accept.ts';
import { FunctionTables } from './jobs/function-tables.ts';
import { INGEST, ingestQueue, RUNS, runQueue } from './jobs/queues.ts';
import { Reports, startReporting } from './jobs/reports.ts';
import { runParts } from './jobs/run-parts.ts';
import { storedStatus } from './jobs/stored-status.ts';
import { TracedAcceptor } from './jobs/traced-acceptor.ts';
import { createLog } from './log.ts';
import { live } from './process.ts';
import { durabilityOf } from './store/durability.ts';
import { connect, ready } from './store/redis.ts';
import { createStore } from './store/store.ts';
import { startTracing } from './tracing/start.ts';
import { startReconciler } from './workers/reconciler.ts';
import { startWorkers } from './workers/workers.ts';

const config = readConfig();
const log = createLog(config.logLevel, 'worker');
const tracing = await startTracing(config.tracing, 'worker', log);
const instruments = await startInstruments(config.metricsPort !== undefined, 'worker');
const meter = instruments?.meter ?? SILENT;
// What a worker without this door need not load. It is open before Redis is there, to tell that it is not.
const metrics =
  instruments && (await (await import('./api/metrics-port.ts')).openMetricsPort(config, instruments, log));
const redis = connect(config, 'wait', log);
// The queues have a connection of their own: ioredis copies every script of a connection into every pipeline, and BullMQ brings fifty.
const queueRedis = connect(config, 'wait', log);
await Promise.all([ready(redis), ready(queueRedis)]);

const store = createStore(redis, config);
const queueOptions = { connection: queueRedis, prefix: store.queuePrefix };
const [ingests, runs] = [ingestQueue(queueOptions), runQueue(queueOptions, tracing?.jobs)];
for (const queue of [ingests, runs]) queue.on('error', (error) => log.debug({ err: error.message }, 'queue'));
const functions = new FunctionTables(store.functions);
const reports = new Reports(store, meter);
const durability = await durabilityOf(config, redis, log);
const acceptor = tracing
  ? new TracedAcceptor(tracing, store.dedup, ingests, meter, durability)
  : new Acceptor(store.dedup, ingests, meter, durability);
const caller = new FunctionCaller({
  timeoutMs: config.callTimeoutMs,
  blockPrivateAddresses: config.blockPrivateAddresses,
  signingKeyOf: (env) => (config.dev ? config.signingKey : store.signingKeys.current(env)),
  dev: config.dev,
  tracing,
});
const { lookAfterMs } = config;
const parts = {
  ...store,
  ...runParts(store, functions, runs, acceptor, reports, lookAfterMs, tracing),
  functions,
  caller,
  reports,
  lookAfterMs,
};

const workers = startWorkers(config, queueOptions, parts, log, meter, tracing);
instruments?.watch({
  eventsUnanswered: () => acceptor.unansweredEvents,
  slots: { [INGEST]: config.ingestConcurrency, [RUNS]: config.runConcurrency },
  stored: storedStatus(store, [ingests, runs]),
});
await workers.ready();
const reconciler = startReconciler(parts, lookAfterMs, log);
const reporting = startReporting(reports, store, 'worker', log);

live(
  log,
  async () => {
    await Promise.all([workers.close(), reconciler.close()]);
    await reporting.close();
    await Promise.all([ingests.close(), runs.close(), caller.close(), metrics?.close()]);
    durability?.close();
    redis.disconnect();
    queueRedis.disconnect();
    await tracing?.close();
  },
  metrics && { metricsPort: metrics.port },
);
