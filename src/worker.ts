/** The worker process: ingests events and calls functions. Any number of them may run; any may die at any time. */
import { readConfig } from './config.ts';
import { FunctionCaller } from './functions/caller.ts';
import { Acceptor } from './jobs/accept.ts';
import { FunctionTables } from './jobs/function-tables.ts';
import { ingestQueue, runQueue } from './jobs/queues.ts';
import { runEnqueuer } from './jobs/runs.ts';
import { createLog } from './log.ts';
import { live } from './process.ts';
import { connect, ready } from './store/redis.ts';
import { createStore } from './store/store.ts';
import { startWorkers } from './workers/workers.ts';

const config = readConfig();
const log = createLog(config.logLevel, 'worker');
const redis = connect(config, 'wait', log);
await ready(redis);
const store = createStore(redis, config);
const queues = { connection: redis, prefix: store.queuePrefix };
const [ingests, runs] = [ingestQueue(queues), runQueue(queues)];
const caller = new FunctionCaller({ timeoutMs: config.callTimeoutMs, signingKey: config.signingKey, dev: config.dev });
const workers = startWorkers(
  config,
  queues,
  {
    events: store.events,
    runs: store.runs,
    functions: new FunctionTables(store.functions),
    enqueueRuns: runEnqueuer(runs),
    acceptor: new Acceptor(store.dedup, ingests),
    caller,
  },
  log,
);
await workers.ready();

live(log, async () => {
  await workers.close();
  await Promise.all([ingests.close(), runs.close(), caller.close()]);
  redis.disconnect();
});
