/** Moves an installation from one Redis to another or to a cluster, while no process runs (docs/deploy.md):
 *
 *      MOVE_FROM_REDIS_URL=redis://old:6379 REDIS_CLUSTER_URLS=redis://new:6379 scripts/start move [cancel]
 *
 *  It can be interrupted at any time, and then be repeated or cancelled. */
import { type Config, ConfigError, nodeProblem, readConfig } from './config.ts';
import { createLog } from './log.ts';
import { inTime } from './model/values/in-time.ts';
import { InstallationMove, MoveProblem, type MoveSide } from './store/move/installation-move.ts';
import { connect, type Redis, ready, toServiceError } from './store/redis/connection/connection.ts';
import { createStore, partitionsWanted } from './store/store.ts';

const REDIS_TIMEOUT_MS = 10_000;
const USAGE = 'Usage: scripts/start move [cancel]';

process.exit(await move(process.argv.slice(2)));

async function move([command, ...rest]: readonly string[]): Promise<number> {
  if (rest.length > 0 || (command !== undefined && command !== 'cancel')) {
    console.error(USAGE);
    return 2;
  }
  try {
    const node = nodeProblem();
    if (node !== undefined) throw new MoveProblem(node);
    const config = readConfig();
    if (config.moveFromUrl === undefined) {
      throw new MoveProblem(
        'MOVE_FROM_REDIS_URL: not set. Set it to the URL of the Redis that the installation moves away from',
      );
    }
    const source = await open('MOVE_FROM_REDIS_URL', {
      ...config,
      redis: { ...config.redis, url: config.moveFromUrl, clusterUrls: undefined, sentinels: undefined },
    });
    const target = await open(config.redis.clusterUrls ? 'REDIS_CLUSTER_URLS' : 'REDIS_URL', config);
    await check(source, target);
    const installation = new InstallationMove({
      keyPrefix: config.keyPrefix,
      source,
      target,
      partitions: partitionsWanted(config),
      report: (line) => console.log(line),
    });
    await (command === 'cancel' ? installation.cancel() : installation.run());
    return 0;
  } catch (error) {
    console.error(messageOf(error));
    return 1;
  }
}

/** @throws MoveProblem if it does not respond */
async function open(setting: string, config: Config): Promise<MoveSide> {
  const { url, clusterUrls } = config.redis;
  const { host } = new URL(clusterUrls?.[0] ?? url);
  const redis = connect(config, 'wait', createLog('silent', 'move'));
  let last = `no response within ${REDIS_TIMEOUT_MS / 1_000} s`;
  redis.on('error', ({ message }) => {
    last = message;
  });
  const unreachable = () => new MoveProblem(`${setting}: cannot connect to Redis at ${host}: ${last}`);
  await inTime(
    ready(redis).then(() => redis.ping()),
    REDIS_TIMEOUT_MS,
    unreachable,
  );
  return { store: createStore(redis, config), host };
}

/** @throws MoveProblem, ConfigError */
async function check(source: MoveSide, target: MoveSide): Promise<void> {
  const [from, to] = [await infoOf(source.store.redis), await infoOf(target.store.redis)];
  if (from.get('cluster_enabled') === '1') {
    throw new MoveProblem(`MOVE_FROM_REDIS_URL: ${source.host} is a node of a cluster; the move is from one Redis`);
  }
  if (from.get('role') !== 'master') {
    throw new MoveProblem(`MOVE_FROM_REDIS_URL: ${source.host} is a replica; use the URL of its master`);
  }
  if (from.get('run_id') === to.get('run_id')) {
    throw new MoveProblem(`MOVE_FROM_REDIS_URL: ${source.host} is the Redis that the installation is to move to`);
  }
  // Processes that start on the target need the same key.
  await source.store.secretKeyCheck.verify();
}

async function infoOf(redis: Redis): Promise<Map<string, string>> {
  const text = await redis.info();
  return new Map(text.split('\r\n').map((line) => line.split(':') as [string, string]));
}

function messageOf(error: unknown): string {
  if (error instanceof MoveProblem || error instanceof ConfigError) return error.message;
  const translated = toServiceError(error);
  const { message } = error as Error;
  return translated === error
    ? `The move was interrupted: ${message}. Repeat it`
    : `The move was interrupted: ${message}. Repeat it when Redis is available, or cancel it with \`${USAGE.slice(7)}\``;
}
