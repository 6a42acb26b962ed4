/** The worker process: ingests events and calls functions. Any number of them may run; any may die at any time. */
import { readConfig } from './config.ts';
import { FunctionCaller } from './functions/caller.ts';
import { Acceptor } from './jobs/accept.ts';
import { FunctionTables } from './jobs/function-tables.ts';
import { ingestQueue, runQueue } from './jobs/queues.ts';
import { Reports, startReporting } from './jobs/reports.ts';
import { runParts } from './jobs/run-parts.ts';
import { createLog } from './log.ts';
import { live } from './process.ts';
import { durabilityOf } from './store/durability.ts';
import { connect, ready } from './store/redis.ts';
import { createStore } from './store/store.ts';
import { startReconciler } from './workers/reconciler.ts';
import { startWorkers } from './workers/workers.ts';

const config = readConfig();
const log = createLog(config.logLevel, 'worker');
const redis = connect(config, 'wait', log);
await ready(redis);

const store = createStore(redis, config);
const queueOptions = { connection: redis, prefix: store.queuePrefix };
const [ingests, runs] = [ingestQueue(queueOptions), runQueue(queueOptions)];
for (const queue of [ingests, runs]) queue.on('error', (error) => log.debug({ err: error.message }, 'queue'));
const functions = new FunctionTables(store.functions);
const reports = new Reports(store);
const durability = await durabilityOf(config, redis, log);
const acceptor = new Acceptor(store.dedup, ingests, durability);
const caller = new FunctionCaller({
  timeoutMs: config.callTimeoutMs,
  blockPrivateAddresses: config.blockPrivateAddresses,
  signingKeyOf: (env) => (config.dev ? config.signingKey : store.signingKeys.current(env)),
  dev: config.dev,
});
const { lookAfterMs } = config;
const parts = {
  ...store,
  ...runParts(store, functions, runs, acceptor, reports, lookAfterMs),
  functions,
  caller,
  reports,
  lookAfterMs,
};

const workers = startWorkers(config, queueOptions, parts, log);
await workers.ready();
const reconciler = startReconciler(parts, lookAfterMs, log);
const reporting = startReporting(reports, store, 'worker', log);

live(log, async () => {
  await Promise.all([workers.close(), reconciler.close()]);
  await reporting.close();
  await Promise.all([ingests.close(), runs.close(), caller.close()]);
  durability?.close();
  redis.disconnect();
});
