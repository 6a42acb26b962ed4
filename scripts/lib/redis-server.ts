/** A Redis of a script's own: on a free port of the loopback address, with the settings that the service asks for. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, LOOPBACK } from './ports.ts';
import { Problem } from './problem.ts';
import { howToGetRedis, isNewEnough, type RedisProgram } from './redis-program.ts';

const KEEPER = join(import.meta.dirname, 'redis-keeper.ts');
/** Of what Redis wrote, which is little at log level warning. */
const LAST_LINES = 5;

export interface OwnRedis {
  url: string;
  port: number;
  /** Resolves, with the last lines it wrote, when Redis has ended without being stopped by us. */
  lost: Promise<string>;
  /** Saves what there is, if it can, and ends. */
  stop(): Promise<void>;
}

/** @param dir where it keeps its data
 *  @param appendfsync always: it answers when what it was given is on its disk
 *  @throws Problem with Redis's own words when it does not start */
export async function startRedis(
  program: RedisProgram,
  dir: string,
  appendfsync: 'everysec' | 'always' = 'everysec',
): Promise<OwnRedis> {
  const port = await freePort();
  const settings = {
    port: String(port),
    bind: LOOPBACK,
    dir,
    appendonly: 'yes',
    appendfsync,
    'maxmemory-policy': 'noeviction',
    loglevel: 'warning',
    // Also when it cannot save: with its disk full or its folder gone it would stay for ever.
    'shutdown-on-sigterm': 'force',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const keeper = fork(KEEPER, [program.file, program.argv0, ...options], {
    // A session of its own, so that Ctrl-C at the terminal does not end Redis before those who use it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = outputUntilEnd(keeper);
  const url = `redis://${LOOPBACK}:${port}`;
  const probe = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  probe.on('error', () => {});
  // ioredis holds the ping back until Redis has loaded its data.
  const early = await Promise.race([probe.ping().then(() => undefined), ended]);
  probe.disconnect();
  if (early !== undefined) throw new Problem(`Redis did not start in ${dir}:\n${early}`);
  const lost = Promise.withResolvers<string>();
  let stopping = false;
  ended.then((words) => !stopping && lost.resolve(words));
  return {
    url,
    port,
    lost: lost.promise,
    async stop() {
      stopping = true;
      keeper.kill('SIGTERM');
      await ended;
    },
  };
}

/** @throws Problem when there is no Redis at the address, or it is too old */
export async function checkRedis(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 });
  let cause: string | undefined;
  redis.on('error', ({ message }) => {
    cause = message;
  });
  try {
    await redis.connect();
    const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? '';
    if (!isNewEnough(version)) throw new Problem(`At REDIS_URL: ${howToGetRedis(version)}`);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(`REDIS_URL: no Redis answers at ${new URL(url).host} (${cause ?? (error as Error).message}).`);
  } finally {
    redis.disconnect();
  }
}

async function outputUntilEnd(child: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  await once(child, 'close');
  return output.trim().split('\n').slice(-LAST_LINES).join('\n');
}
