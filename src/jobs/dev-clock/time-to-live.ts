/** Shortens the TTLs of keys when the clock of dev mode moves. */
import { APP_KEYS } from '../../store/keys/apps.ts';
import { AUTH_KEYS } from '../../store/keys/auth.ts';
import { CONNECT_KEYS } from '../../store/keys/connect.ts';
import type { KeyDeclaration } from '../../store/keys/key-declaration.ts';
import { RUN_KEYS } from '../../store/keys/runs.ts';
import { PARTITION_KEYS, SHARED_KEYS } from '../../store/keys/shared.ts';
import { TELEMETRY_KEYS } from '../../store/keys/telemetry.ts';
import { readScript } from '../../store/redis/connection/script-source.ts';
import type { Redis } from '../../store/redis/connection/servers.ts';
import type { Keyspace } from '../../store/redis/keyspace/keyspace.ts';

const { processes, process, liveWorkers, outboxStatus } = TELEMETRY_KEYS;
/** Keys of locks, leases, queues, heartbeats, requests in progress, and keys that duties renew. They concern processes, which use the time
 *  of the machine. */
export const MACHINE_TIME_KEYS: KeyDeclaration[] = [
  ...Object.values({ ...CONNECT_KEYS, ...SHARED_KEYS, ...PARTITION_KEYS }),
  processes,
  process,
  liveWorkers,
  outboxStatus,
  RUN_KEYS.rampEnds,
  APP_KEYS.givenRegistration,
  AUTH_KEYS.idempotentResponse,
];
const FIRST_WORDS = [...new Set(MACHINE_TIME_KEYS.map(({ pattern }) => pattern.split(':')[0] as string))];

/** Shortens the TTLs of all other keys, and deletes those whose time has passed. */
export async function shortenTtls(redis: Redis, keys: Pick<Keyspace, 'prefix' | 'all'>, byMs: number): Promise<void> {
  const script = readScript('redis/lua/shorten-ttls.lua');
  const prefixes = new Set([keys.prefix, ...keys.all().map(({ prefix }) => prefix)]);
  for (const prefix of prefixes) {
    let cursor = '0';
    do {
      cursor = String(await redis.eval(script, 0, cursor, byMs, prefix, ...FIRST_WORDS));
    } while (cursor !== '0');
  }
}
