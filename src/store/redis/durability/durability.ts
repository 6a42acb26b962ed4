/** INGEST_DURABILITY. `fsync`: an event is acknowledged when it is on Redis's disk and, if a replica may take over, also on a replica's.
 *  `redis`: when Redis has it. `auto`: like `fsync` but without waiting for replicas if the server syncs every write, otherwise like
 *  `redis`. */
import { type Config, ConfigError } from '../../../config.ts';
import type { Logger } from '../../../log.ts';
import { AnsweringNodes } from '../cluster/answering-nodes.ts';
import { connect, type Redis } from '../connection/connection.ts';
import { CONNECTIONS } from '../connection/connections.ts';
import { addressOf, clusterOf, primariesOf } from '../connection/servers.ts';
import type { Keyspace } from '../keyspace/keyspace.ts';
import { ClusterDurability } from './cluster-durability.ts';
import { DiskBarrier } from './disk-barrier.ts';
import { durableServer, replicatedServer } from './durable-server.ts';
import { Afterwards, type Durability } from './durable-write.ts';
import { IN_REDIS, ServerDurability } from './server-durability.ts';

/** Number of replicas that must have a write before it is acknowledged, if a replica may take over. */
const REPLICAS = 1;

/** @returns undefined: Redis's reply is enough (INGEST_DURABILITY=redis).
 *  @param redis connection that writes events
 *  @param queueRedis connection that adds jobs
 *  @throws ConfigError if Redis is connected and not configured for the guarantee */
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
  // Sentinels replace a failed master with a replica, and data that is only on the master's disk is lost.
  const replicated = required && config.redis.sentinels ? { replicas: REPLICAS, isCluster: false } : undefined;
  const server = new ServerDurability({
    redis,
    barrier: new DiskBarrier(() => connect(config, CONNECTIONS.barrier.web, log), replicated),
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

/** @returns a warning if the guarantee could be stronger
 *  @throws ConfigError if Redis is not configured for INGEST_DURABILITY */
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
    // The connection broke in the meantime; the server is checked again after the reconnection.
    return undefined;
  }
}

const WARNING =
  'INGEST_DURABILITY is auto, and this Redis does not sync every write (or does not allow reading its settings): the last seconds of ' +
  'acknowledged events are lost when Redis or its machine fails. Set appendonly yes and appendfsync always, or INGEST_DURABILITY=redis to accept this.';
