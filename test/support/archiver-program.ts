/** One round of the archiver in a process of its own, which kills itself (SIGKILL) with a certain write to Redis or Postgres.
 *  Arguments: number of the write (0: it runs to its end), `before` or `after` it is sent, and the work: `archive`, `offload` runs, or `return`
 *  them. Settings: the environment. */
import { flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { createArchive } from '../../src/archive/archive.ts';
import { readConfig } from '../../src/config.ts';
import { createHistory } from '../../src/history/history.ts';
import type { RunReturns } from '../../src/history/run-returns.ts';
import { Archiver } from '../../src/jobs/archive/archiver.ts';
import { returnRuns } from '../../src/jobs/archive/offload-returns.ts';
import { offloadRuns } from '../../src/jobs/archive/offloading.ts';
import { createLog } from '../../src/log.ts';
import { createStore } from '../../src/store/store.ts';
import { connectRedis } from './redis.ts';

const [last = '0', moment = 'before', work = 'archive'] = process.argv.slice(2);

const config = readConfig();
const redis = connectRedis();
const store = createStore(redis, config);
await store.partitions.read();
const log = createLog('silent', 'archiver');
const archive = createArchive(config, async () => 30, log);
if (!archive) throw new Error('DATABASE_URL is not set');
// Connections are not part of the round.
await Promise.all([redis.ping(), archive.database.query('SELECT 1')]);
const archiver = new Archiver({ archive, store });
const history = createHistory(store, archive);
const deps = { ...store, archive, runReturns: history.runReturns as RunReturns, reconcileAfterMs: 0, log };
const AFTER_ALARMS_MS = 365 * 86_400_000;
const works: Record<string, () => Promise<boolean>> = {
  archive: async () => (await archiver.round(0)).more,
  offload: async () => (await offloadRuns(0, deps, Date.now())) > 0,
  return: async () => {
    await returnRuns(0, deps, Date.now() + AFTER_ALARMS_MS);
    return false;
  },
};

// A killed process leaves none for the next one.
flushCompileCache();
const kill = () => process.kill(process.pid, 'SIGKILL');
let writes = 0;
const { write } = Socket.prototype;
Socket.prototype.write = function (this: Socket, ...args: Parameters<typeof write>) {
  const isLast = this.remotePort !== undefined && ++writes === Number(last);
  if (isLast && moment === 'before') kill();
  const result = write.apply(this, args);
  // What was sent may be done or not.
  if (isLast) setTimeout(kill, 1);
  return result;
} as typeof write;

while (await works[work]?.());
Socket.prototype.write = write;
process.stdout.write(`${writes}\n`);
await archive.database.close();
redis.disconnect();
