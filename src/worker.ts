/** The worker process: ingests events and calls functions. Any number of them may run; any may die at any time. */
import { readConfig } from './config.ts';
import { FunctionClient } from './functions/function-client.ts';
import { Acceptor } from './jobs/ingestion/acceptor.ts';
import { ExpressionEvaluator } from './jobs/ingestion/expression-evaluator.ts';
import { FunctionTables } from './jobs/ingestion/function-tables.ts';
import { TracedAcceptor } from './jobs/ingestion/traced-acceptor.ts';
import { INGEST, ingestQueue, RUNS, runQueue } from './jobs/queues/queues.ts';
import { AppLimits } from './jobs/runs/app-limits.ts';
import { CallLimiter } from './jobs/runs/call-limiter.ts';
import { createRunServices } from './jobs/runs/run-parts.ts';
import { storedGauges } from './jobs/telemetry/stored-gauges.ts';
import { startTelemetry, Telemetry } from './jobs/telemetry/telemetry.ts';
import { createLog } from './log.ts';
import { NOOP_RECORDER } from './metrics/recorder.ts';
import { startMetrics } from './metrics/start.ts';
import { FairShares } from './model/capacity/fair-shares.ts';
import { runProcess } from './process.ts';
import { connect, ready } from './store/redis/connection.ts';
import { durabilityOf } from './store/redis/durability.ts';
import { createStore } from './store/store.ts';
import { startTracing } from './tracing/start.ts';
import { startBranchJanitor } from './workers/branch-janitor.ts';
import { startReconciler } from './workers/reconciler.ts';
import { startWorkers } from './workers/workers.ts';

const config = readConfig();
const log = createLog(config.logLevel, 'worker');
const tracing = await startTracing(config.tracing, 'worker', log);
const instruments = await startMetrics(config.metricsPort !== undefined, 'worker');
const meter = instruments?.recorder ?? NOOP_RECORDER;
// What a worker without this door need not load. It is open before Redis is there, to tell that it is not.
const metrics =
  instruments && (await (await import('./metrics/metrics-server.ts')).startMetricsServer(config, instruments, log));
const redis = connect(config, 'wait', log);
// The queues have a connection of their own: ioredis copies every script of a connection into every pipeline, and BullMQ brings fifty.
const queueRedis = connect(config, 'wait', log);
await Promise.all([ready(redis), ready(queueRedis)]);

const store = createStore(redis, config);
await store.secretKeyCheck.claim().catch((error: Error) => {
  log.fatal({ err: error.message }, 'cannot start');
  process.exit(1);
});
const queueOptions = { connection: queueRedis, prefix: store.queuePrefix };
const [ingests, runs] = [ingestQueue(queueOptions), runQueue(queueOptions, tracing?.jobs)];
for (const queue of [ingests, runs]) queue.on('error', (error) => log.debug({ err: error.message }, 'queue'));
const functions = new FunctionTables(store.functions);
const reports = new Telemetry(store, meter);
const durability = await durabilityOf(config, redis, log);
const acceptor = tracing
  ? new TracedAcceptor(tracing, store.deduplication, ingests, meter, durability)
  : new Acceptor(store.deduplication, ingests, meter, durability);
const limits = new AppLimits(config.runConcurrency);
const caller = new FunctionClient({
  timeoutMs: config.callTimeoutMs,
  outbound: config.outbound,
  signingKeyOf: (env) => (config.dev ? config.signingKey : store.signingKeys.current(env)),
  kindOf: (env) => store.environmentKinds.of(env),
  dev: config.dev,
  onEnd: (env, app, call) => limits.note(env, app, call),
  tracing,
});
const { reconcileAfterMs: lookAfterMs } = config;
const judge = new ExpressionEvaluator(store.expressionProblems, log, meter);
const ofRuns = createRunServices(store, functions, runs, acceptor, reports, judge, lookAfterMs, tracing);
const shares = new FairShares({ ...config, capacity: config.runConcurrency });
const gate = new CallLimiter(shares, limits, (jobId) => {
  ofRuns.schedule.unpark(jobId).catch((error: Error) => log.debug({ err: error.message }, 'call stays put back'));
});
const parts = {
  ...store,
  ...ofRuns,
  gate,
  functions,
  ingestQueue: ingests,
  caller,
  reports,
  lookAfterMs,
};

const workers = startWorkers(config, queueOptions, parts, log, meter, tracing);
instruments?.setGaugeSources({
  eventsUncommitted: () => acceptor.unansweredEvents,
  calls: () => ({ waiting: gate.state.waiting, deferred: gate.state.parked, throttledApps: limits.slowed().length }),
  concurrency: { [INGEST]: config.ingestConcurrency, [RUNS]: config.runConcurrency },
  stored: storedGauges(store, [ingests, runs]),
});
await workers.ready();
const reconciler = startReconciler(parts, lookAfterMs, log);
const branches = startBranchJanitor({ ...store, queues: [ingests, runs], log }, config.branchExpiryMs);
const reporting = startTelemetry(reports, store, 'worker', log, () => ({ slowedApps: limits.slowed() }));

runProcess(
  log,
  async () => {
    await Promise.all([workers.close(), reconciler.close(), branches.close()]);
    await reporting.close();
    await Promise.all([ingests.close(), runs.close(), caller.close(), metrics?.close()]);
    durability?.close();
    redis.disconnect();
    queueRedis.disconnect();
    await tracing?.close();
  },
  config.shutdownGraceMs,
  metrics && { metricsPort: metrics.port },
);
