/** The real Redis of the tests, shared by all; each test has its own key prefix. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';

export type { Redis };

/** @throws if the tests were not started by scripts/test, which starts a Redis */
export function redisUrl(): string {
  const url = process.env.REDIS_URL;
  if (!url) throw new Error('REDIS_URL is not set. Run tests with scripts/test, for example: scripts/test test/api');
  return url;
}

export function connectRedis(url: string = redisUrl()): Redis {
  const redis = new Redis(url);
  // It reconnects by itself; tests that stop Redis expect errors.
  redis.on('error', () => {});
  return redis;
}

export function freshPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

export async function keysOf(redis: Redis, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const found of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) keys.push(...found);
  return [...new Set(keys)];
}

export async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    if (keys.length > 0) await redis.unlink(keys);
  }
}
