/** Stores of earlier commits, as files: every key with its TTL, as Redis dumps it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { encodeTime } from 'ulid';
import type { Redis } from '../support/redis.ts';

const FOLDER = join(import.meta.dirname, 'stores');

/** Leading characters of a ULID, which encode the time. */
const TIME_CHARS = 10;

interface StoredKey {
  key: string;
  /** Milliseconds; 0: none. */
  ttl: number;
  /** What DUMP gives, in base64. */
  dump: string;
}

export async function writeStore(redis: Redis, name: string): Promise<void> {
  const keys: StoredKey[] = [];
  for (const key of (await redis.keys('*')).sort()) {
    const [dump, ttl] = await Promise.all([redis.dumpBuffer(key), redis.pttl(key)]);
    if (dump) keys.push({ key, ttl: Math.max(0, ttl), dump: dump.toString('base64') });
  }
  writeFileSync(join(FOLDER, `${name}.json.gz`), gzipSync(JSON.stringify(keys), { level: 9 }));
}

/** @param redis an empty one */
export async function restoreStore(redis: Redis, name: string): Promise<void> {
  const keys = JSON.parse(gunzipSync(readFileSync(join(FOLDER, name))).toString()) as StoredKey[];
  const pipeline = redis.pipeline();
  for (const { key, ttl, dump } of keys) pipeline.restore(key, ttl, Buffer.from(dump, 'base64'));
  for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
}

/** Gives the logged requests of webhooks IDs of now. The log hides what is older than a week, and the stores get old. */
export async function renewLoggedRequests(redis: Redis): Promise<void> {
  for (const key of await redis.keys('service:webhook-request:*')) {
    const [webhookId, id = ''] = key.split(':').slice(2);
    const newId = `${encodeTime(Date.now(), TIME_CHARS)}${id.slice(TIME_CHARS)}`;
    const [log, sizes] = [`service:webhook-log:${webhookId}`, `service:webhook-log-sizes:${webhookId}`];
    const size = (await redis.hget(sizes, id)) ?? '';
    const summary = (await redis.hget(key, 'summary')) ?? '';
    const renewal = redis.multi().zrem(log, id).zadd(log, 0, newId).hdel(sizes, id).hset(sizes, newId, size);
    renewal.hset(key, 'summary', summary.replace(id, newId)).rename(key, key.replace(id, newId));
    for (const [error] of (await renewal.exec()) ?? []) if (error) throw error;
  }
}
