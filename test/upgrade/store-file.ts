/** Stores of earlier commits, as files: every key with its TTL, as Redis dumps it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Redis } from '../support/redis.ts';

const FOLDER = join(import.meta.dirname, 'stores');

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
