/** INGEST_DURABILITY=fsync acknowledges an event when it is on Redis's disk, and where a replica may take over, also on that of a replica; redis when
 *  Redis has it; auto as fsync does where the server syncs every write, but without waiting for replicas, elsewhere as redis does. */
import { type Config, ConfigError } from '../../config.ts';
import type { Logger } from '../../log.ts';
import { AnsweringNodes } from './answering-nodes.ts';
import { ClusterDurability } from './cluster-durability.ts';
import { connect, type Redis } from './connection.ts';
import { DiskBarrier } from './disk-barrier.ts';
import { durableServer, replicatedServer } from './durable-server.ts';
import { Afterwards, type Durability } from './durable-write.ts';
import type { Keyspace } from './keyspace.ts';
import { IN_REDIS, ServerDurability } from './server-durability.ts';
import { addressOf, clusterOf, primariesOf } from './servers.ts';

/** That have a write before it is acknowledged, where a replica may take over. */
const REPLICAS = 1;

/** @returns undefined: Redis's reply is enough (INGEST_DURABILITY=redis).
 *  @param redis the connection that events are written on
 *  @param queueRedis the connection that jobs are added on
 *  @throws ConfigError when Redis is connected and not configured for the promise */
export async function durabilityOf(
  config: Config,
  { redis, keys, queueRedis }: { redis: Redis; keys: Keyspace; queueRedis: Redis },
  log: Logger,
): Promise<Durability | undefined> {
  if (config.ingestDurability === 'redis') {
    if (!config.dev) log.info(IN_REDIS);
    return undefined;
  }
  if (redis.status === 'ready') await checkDurability(config, redis);
  const required = config.ingestDurability === 'fsync';
  const cluster = clusterOf(redis);
  if (cluster) {
    const answering = new AnsweringNodes();
    for (const connection of new Set([redis, queueRedis])) answering.follow(connection);
    return new ClusterDurability({ cluster, keys, answering, replicas: required ? REPLICAS : 0, log, required });
  }
  // Sentinels replace a master that has failed by a replica, and what is only on its disk is gone.
  const replicated = required && config.redis.sentinels ? { replicas: REPLICAS, isCluster: false } : undefined;
  const server = new ServerDurability({
    redis,
    barrier: new DiskBarrier(() => connect(config, 'answer-late', log), replicated),
    check: (checked) => (replicated ? replicatedServer(checked, replicated) : durableServer(checked)),
    isReplicated: replicated !== undefined,
    log,
    required,
  });
  const afterwards = new Afterwards();
  const begin = () => server.begin([keys.diskBarrier]);
  return {
    isReplicated: replicated !== undefined,
    begin,
    during: (work) =>
      afterwards.around(async () => {
        const onDisk = await begin();
        const done = await work();
        await onDisk();
        return done;
      }),
    afterwards: (work) => afterwards.leave(work),
    close: () => server.close(),
  };
}

/** @returns a warning when less is promised than could be
 *  @throws ConfigError when this Redis is not configured for what INGEST_DURABILITY promises */
export async function checkDurability({ ingestDurability }: Config, redis: Redis): Promise<string | undefined> {
  if (ingestDurability === 'redis') return undefined;
  try {
    const servers = await Promise.all(
      primariesOf(redis).map((server) => durableServer(server, clusterOf(redis) && addressOf(server))),
    );
    return ingestDurability === 'fsync' || servers.every(({ syncsAtOnce }) => syncsAtOnce) ? undefined : WARNING;
  } catch (error) {
    if (ingestDurability === 'auto') return WARNING;
    if (error instanceof ConfigError) throw error;
    // The connection broke in the meantime; the server is checked again when it is back.
    return undefined;
  }
}

const WARNING =
  'INGEST_DURABILITY is auto, and this Redis does not sync every write (or does not allow reading its settings): the last seconds of ' +
  'acknowledged events are lost when Redis or its machine fails. Set appendonly yes and appendfsync always, or INGEST_DURABILITY=redis to accept this.';
