/** Starts a Redis for a script, on a free loopback port, with the settings that the service recommends. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, LOOPBACK } from './ports.ts';
import { Problem } from './problem.ts';
import { howToGetRedis, isNewEnough, type RedisProgram } from './redis-program.ts';

const KEEPER = join(import.meta.dirname, `redis-keeper${extname(import.meta.filename)}`);
/** Redis writes little at log level warning. */
const LAST_LINES = 5;

export interface OwnRedis {
  url: string;
  port: number;
  /** Resolves with the last log lines if Redis exits without stop(). */
  lost: Promise<string>;
  /** Saves the data if possible, and exits. */
  stop(): Promise<void>;
}

/** @param dir for the data
 *  @param appendfsync always: Redis responds after syncing to disk
 *  @throws Problem with Redis's own message if it does not start */
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
    // Even if it cannot save: with a full disk or a missing folder it would never exit.
    'shutdown-on-sigterm': 'force',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const keeper = fork(KEEPER, [program.file, program.argv0, ...options], {
    // Its own session, so that Ctrl-C in the terminal does not stop Redis before the programs that use it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = outputUntilEnd(keeper);
  const url = `redis://${LOOPBACK}:${port}`;
  const probe = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  probe.on('error', () => {});
  // ioredis delays the ping until Redis has loaded its data.
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

/** @throws Problem if no Redis responds at the address, or if it is too old */
export async function checkRedis(url: string): Promise<void> {
  if (!URL.canParse(url)) {
    throw new Problem(`REDIS_URL: got ${JSON.stringify(url)}; expected an address such as redis://127.0.0.1:6379.`);
  }
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 });
  let cause: string | undefined;
  redis.on('error', ({ message }) => {
    cause = message;
  });
  try {
    await redis.connect();
    const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? '';
    if (!isNewEnough(version)) throw new Problem(`REDIS_URL: ${howToGetRedis(version)}`);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(
      `REDIS_URL: cannot connect to Redis at ${new URL(url).host} (${cause ?? (error as Error).message}).`,
    );
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
