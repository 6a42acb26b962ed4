/** State of each server that accepts writes, for health checks. */
import { machineTime } from '../../../model/values/clock.ts';
import { fromEach } from '../cluster/cluster-nodes.ts';
import type { Redis } from './connection.ts';
import { infoField, memoryOf } from './server-info.ts';
import { addressOf, clusterOf, primariesOf } from './servers.ts';

export interface ServerVitals {
  /** undefined for a single server. */
  address: string | undefined;
  /** Empty, like the other texts, if this Redis forbids INFO. */
  version: string;
  roundTripMs: number;
  /** How far its clock is ahead of this process's; accurate to half the round trip. */
  clockAheadMs: number;
  usedBytes: number | undefined;
  /** 0: no limit. */
  maxBytes: number;
  maxmemoryPolicy: string;
  appendonly: boolean;
  /** undefined if CONFIG is forbidden. */
  appendfsync: string | undefined;
  /** Names of INFO fields that report a failed save. */
  failedSaves: string[];
}

const SAVES = ['aof_last_write_status', 'aof_last_bgrewrite_status', 'rdb_last_bgsave_status'];

/** undefined for a server that does not respond. Never rejects. */
export async function readServerVitals(
  redis: Redis,
): Promise<{ address: string | undefined; vitals: ServerVitals | undefined }[]> {
  const isCluster = clusterOf(redis) !== undefined;
  const found = await fromEach(primariesOf(redis), readVitals);
  return found.map(({ server, reply }) => {
    const address = isCluster ? addressOf(server) : undefined;
    return { address, vitals: reply && { ...reply, address } };
  });
}

async function readVitals(server: Redis): Promise<Omit<ServerVitals, 'address'>> {
  const startedAt = performance.now();
  const [seconds, microseconds] = await server.time();
  const roundTripMs = performance.now() - startedAt;
  const serverMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  const clockAheadMs = serverMs - (machineTime() - roundTripMs / 2);
  const [info, appendfsync] = await Promise.all([
    // Hosted Redis often forbids these.
    server.info().catch(() => ''),
    server.config('GET', 'appendfsync').then(
      (reply) => (reply as string[])[1],
      () => undefined,
    ),
  ]);
  return {
    version: infoField(info, 'redis_version'),
    roundTripMs,
    clockAheadMs,
    ...memoryOf(info),
    maxmemoryPolicy: infoField(info, 'maxmemory_policy'),
    appendonly: infoField(info, 'aof_enabled') === '1',
    appendfsync,
    failedSaves: SAVES.filter((name) => infoField(info, name) === 'err'),
  };
}
