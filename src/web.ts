/** The web process: takes events and webhooks in, and serves the API. Any number of them may run; any may die at any time. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { createApp } from './api/app.ts';
import { prepareFirstAdmin } from './api/auth/first-admin.ts';
import { claimSecretKey, reencryptSecrets } from './api/auth/reencrypt-secrets.ts';
import { Readiness } from './api/operations/readiness.ts';
import { RequestLogWriter } from './api/receive/request-log-writer.ts';
import { LiveStreams } from './api/rest/live-streams.ts';
import { readConfig } from './config.ts';
import { HttpAgent } from './functions/http-agent.ts';
import { SYNC_REQUEST_TIMEOUT_MS } from './functions/sync-request.ts';
import { gracefulShutdown } from './graceful-shutdown.ts';
import { Acceptor } from './jobs/ingestion/acceptor.ts';
import { ExpressionEvaluator } from './jobs/ingestion/expression-evaluator.ts';
import { FunctionTables } from './jobs/ingestion/function-tables.ts';
import { TracedAcceptor } from './jobs/ingestion/traced-acceptor.ts';
import { Backpressure } from './jobs/queues/backpressure.ts';
import { ingestQueue, runQueue } from './jobs/queues/queues.ts';
import { createRunServices } from './jobs/runs/run-parts.ts';
import { storedGauges } from './jobs/telemetry/stored-gauges.ts';
import { startTelemetry, Telemetry } from './jobs/telemetry/telemetry.ts';
import { createLog } from './log.ts';
import { startMetricsServer } from './metrics/metrics-server.ts';
import { NOOP_RECORDER } from './metrics/recorder.ts';
import { startMetrics } from './metrics/start.ts';
import { describeOutbound } from './model/network/outbound.ts';
import { runProcess } from './process.ts';
import { connect } from './store/redis/connection.ts';
import { durabilityOf } from './store/redis/durability.ts';
import { createStore } from './store/store.ts';
import { WebhookDirectory } from './store/webhooks/webhook-directory.ts';
import { startTracing } from './tracing/start.ts';

import { createTransforms, traceTransforms } from './transforms/transforms.ts';

/** Longer than the idle time of the routers and balancers that stand in front, so that they end connections and not we. */
const KEEP_ALIVE_MS = 65_000;
const REQUEST_TIMEOUT_MS = 60_000;
const FIRST_READ_MS = 2_000;

const config = readConfig();
const log = createLog(config.logLevel, 'web');
log.info({ outbound: describeOutbound(config.outbound) }, 'where apps may be called');
if (config.dev) log.warn('dev mode: every door is open; not for production');
const tracing = await startTracing(config.tracing, 'web', log);

const isMeasured = config.metricsPort !== undefined || config.metricsToken !== undefined;
const instruments = await startMetrics(isMeasured, 'web');
const meter = instruments?.recorder ?? NOOP_RECORDER;
const metrics =
  instruments && config.metricsPort !== undefined ? await startMetricsServer(config, instruments, log) : undefined;

const redis = connect(config, 'answer-soon', log);
const subscriber = connect(config, 'wait', log);
const store = createStore(redis, config);
const { transformTimeoutMs: timeoutMs, transformThreads: threads } = config;
const transforms = traceTransforms(createTransforms({ timeoutMs, threads, log, recorder: meter }), tracing);
const directory = new WebhookDirectory(store.webhooks, (id) => transforms.evict(id));
const secretKeyClaimed = claimSecretKey(store, log).catch((error: Error) => {
  log.fatal({ err: error.message }, 'cannot start');
  process.exit(1);
});
// Without Redis it starts all the same, and says so to whoever asks.
const firstReads = Promise.all([
  secretKeyClaimed,
  directory.follow(subscriber),
  store.environments.follow(subscriber),
  store.apiKeys.follow(subscriber),
  store.eventKeys.follow(subscriber),
  store.installationLimits.follow(subscriber),
]);
await Promise.race([firstReads, setTimeout(FIRST_READ_MS)]);

const queueOptions = { connection: redis, prefix: store.queuePrefix, skipVersionCheck: true };
const queues = [ingestQueue(queueOptions), runQueue(queueOptions, tracing?.jobs)] as const;
for (const queue of queues) queue.on('error', (error) => log.debug({ err: error.message }, 'queue'));
const durability = await durabilityOf(config, redis, log);
const acceptor = tracing
  ? new TracedAcceptor(tracing, store.deduplication, queues[0], meter, durability)
  : new Acceptor(store.deduplication, queues[0], meter, durability);
const pressure = new Backpressure(redis, queues, config.thresholds, log);
const functions = new FunctionTables(store.functions);
const reports = new Telemetry(store, meter);
const { life, retries, invocations } = createRunServices(
  store,
  functions,
  queues[1],
  acceptor,
  reports,
  new ExpressionEvaluator(store.expressionProblems, log, meter),
  config.reconcileAfterMs,
  tracing,
);
const outgoing = new HttpAgent({ ...config, timeoutMs: SYNC_REQUEST_TIMEOUT_MS });
const readiness = new Readiness({ redis, queue: queues[0], firstReads });
const recorder = new RequestLogWriter(store.webhookLog, reports, log);
const streams = new LiveStreams(store.liveFeed(subscriber));
instruments?.setGaugeSources({
  eventsUncommitted: () => acceptor.unansweredEvents,
  transforms: () => transforms.usage(),
  stored: storedGauges(store, queues),
});
const app = createApp({
  config,
  store,
  webhookDirectory: directory,
  functionTables: functions,
  transforms,
  acceptor,
  backpressure: pressure,
  readiness,
  requestLogWriter: recorder,
  telemetry: reports,
  transitions: life,
  retries,
  invocations,
  httpAgent: outgoing,
  queues,
  liveStreams: streams,
  tracing,
  metrics: instruments,
  log,
});

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: REQUEST_TIMEOUT_MS }, app.callback());
const { shutdownDrainMs: drainMs, shutdownGraceMs: graceMs } = config;
const endServer = gracefulShutdown(server, { drainMs, graceMs, endStreams: () => streams.close() });
await new Promise<void>((resolve, reject) => {
  server.once('error', reject);
  server.listen(config.port, config.host, resolve);
});
const { port } = server.address() as AddressInfo;
const address = config.publicUrl ?? `http://${config.host === '0.0.0.0' ? 'localhost' : config.host}:${port}`;
await Promise.race([prepareFirstAdmin(config, store, address, log), setTimeout(FIRST_READ_MS)]);
void secretKeyClaimed.then(() => reencryptSecrets(config, store, log));
const reporting = startTelemetry(reports, store, 'web', log);
pressure.watch();

runProcess(
  log,
  async () => {
    readiness.shutDown();
    await endServer();
    pressure.close();
    await Promise.all([transforms.close(), outgoing.destroy()]);
    await recorder.flush();
    await reporting.close();
    await Promise.all([...queues.map((queue) => queue.close()), metrics?.close()]);
    durability?.close();
    redis.disconnect();
    subscriber.disconnect();
    await tracing?.close();
  },
  Math.max(drainMs, graceMs),
  { port, ...(metrics && { metricsPort: metrics.port }) },
);
