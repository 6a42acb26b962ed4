/** Makes all checks of admissions due, as they are some time later. */
import type { Redis } from 'ioredis';
import type { PartitionKeyspace } from '../../src/store/redis/keyspace/keyspace.ts';

const LONG_AGO = 0;

export async function makeChecksDue(redis: Redis, { admissionChecks }: PartitionKeyspace): Promise<void> {
  const checks = await redis.zrange(admissionChecks, 0, '-1');
  if (checks.length > 0) await redis.zadd(admissionChecks, 'XX', ...checks.flatMap((check) => [LONG_AGO, check]));
}
