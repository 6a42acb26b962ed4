/** One round of the archiver in a process of its own, which kills itself (SIGKILL) with a certain write to Redis or Postgres.
 *  Arguments: number of the write, `before` or `after` it is sent; without them it runs to its end. Settings: the environment. */
import { Socket } from 'node:net';
import { createArchive } from '../../src/archive/archive.ts';
import { readConfig } from '../../src/config.ts';
import { Archiver } from '../../src/jobs/archive/archiver.ts';
import { createLog } from '../../src/log.ts';
import { createStore } from '../../src/store/store.ts';
import { connectRedis } from './redis.ts';

const [last = '0', moment = 'before'] = process.argv.slice(2);

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

while ((await archiver.round(0)).more);
Socket.prototype.write = write;
process.stdout.write(`${writes}\n`);
await archive.database.close();
redis.disconnect();
