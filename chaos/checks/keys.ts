/** Keys without a TTL: this list has each kind with its reason; all others are mistakes. */
import { setTimeout } from 'node:timers/promises';
import type { Redis } from 'ioredis';

export interface PermanentKeys {
  /** `*` is an environment. */
  kind: string;
  /** Matches the key without its KEY_PREFIX or hash tag. */
  pattern: RegExp;
  /** The largest number allowed in a run of scripts/chaos, in one partition. */
  most: number;
  why: string;
}

/** Events and ended runs create none of these. */
export const PERMANENT_KEYS: readonly PermanentKeys[] = [
  {
    kind: '`webhooks`, `webhook-keys`, `event-keys`, `api-keys`, `users`, `signing-keys`, `secret-key-check`, `environments` and related keys',
    pattern: /^(webhook|event-key|api-key|user|signing-key|secret-key-check|environment|installation-limits)[\w-]*$/,
    most: 20,
    why: 'Users created them; they stay until deleted',
  },
  {
    kind: '`apps:*`, `allowed-origins:*`, `functions:*`, `functions-version:*`, `paused-functions:*`, `function-settings:*`, `held-functions:*`, `version-choices:*`, `app-versions:*`',
    pattern:
      /^((apps|allowed-origins|functions|functions-version|paused-functions|function-settings|held-functions|version-choices|expression-[\w-]+):[\w-]+|app-versions:[\w-]+:.+)$/,
    most: 20,
    why: 'Registrations of apps, one hash per environment',
  },
  {
    kind: '`event-sources:*`',
    pattern: /^event-sources:[\w-]+$/,
    most: 5,
    why: 'Keys and webhooks that events came from, one hash per environment',
  },
  {
    kind: '`webhook-versions:*`',
    pattern: /^webhook-versions:[0-9A-Z]{26}$/,
    most: 20,
    why: 'The last versions of each webhook, deleted with it',
  },
  {
    kind: '`alert-rules:*`, `alert-channels:*`',
    pattern: /^alert-(rules|channels):[\w-]+$/,
    most: 5,
    why: 'Changed rules and channels of alerts, one hash per environment',
  },
  {
    kind: '`saved-views:*`',
    pattern: /^saved-views:[\w-]+:[\w-]+$/,
    most: 5,
    why: 'Views of lists, one hash per environment and user, deleted with either',
  },
  {
    kind: '`partition-layout`',
    pattern: /^partition-layout$/,
    most: 1,
    why: 'How many partitions there are since when',
  },
  {
    kind: '`due-bulk-operations:*`',
    pattern: /^due-bulk-operations:[\w-]+$/,
    most: 4,
    why: 'Bulk operations in progress, and replays whose runs are active',
  },
  {
    kind: '`admission-checks`',
    pattern: /^admission-checks$/,
    most: 1,
    why: 'Calls with limits that are looked at next; an entry outlives its call by one look',
  },
  {
    kind: '`events-in-use`',
    pattern: /^events-in-use$/,
    most: 1,
    why: 'Archived events whose runs are active',
  },
  {
    kind: '`batches:*`, `batch-times:*`, `closed-batches:*`, `closed-batch-times:*`, `closed-batch-events:*`',
    pattern: /^(closed-)?batch(es|-times|-events):[\w-]+:.+$/,
    most: 20,
    why: 'Open batches of functions with `batchEvents`, and those whose runs are created now',
  },
  {
    kind: '`lanes:*`, `lane-times:*`, `lane-checks:*`, `leaving-lanes:*`, `leaving-lane-times:*`, `lane-events:*`, `lane-receipts:*`, `stopped-lanes:*`, `lane-counts:*`',
    pattern:
      /^((leaving-|stopped-)?lanes|(leaving-)?lane-times|lane-(checks|events|receipts)):[\w-]+:.+$|^lane-counts:[\w-]+$/,
    most: 20,
    why: 'Lanes of functions with `order` that are not idle, and events whose runs are created now',
  },
  {
    kind: '`debounces:*`, `debounce-times:*`, `debounce-starts:*`, `fired-debounces:*`, `fired-debounce-times:*`',
    pattern: /^(fired-)?debounce(s|-times|-starts):[\w-]+:.+$/,
    most: 20,
    why: 'Open debounces of functions with `debounce`, and those whose runs are created now',
  },
  {
    kind: '`singleton:*`',
    pattern: /^singleton:[\w-]+:[\w-]{22}$/,
    most: 20,
    why: 'The active run of a singleton, deleted when it ends',
  },
  {
    kind: '`audit-log`, `audit-log-archived`',
    pattern: /^audit-log(-archived)?$/,
    most: 2,
    why: 'The audit log, of bounded length, and how far the archive has it',
  },
  {
    kind: '`removed-webhooks`',
    pattern: /^removed-webhooks$/,
    most: 1,
    why: 'Deleted webhooks that the archive has not been told of',
  },
  {
    kind: '`queue:ingest:…`, `queue:runs:…`, `queue:timers:…`: `meta`, `id`, `events`, `completed`, `failed`',
    pattern: /^queue:(ingest|runs|timers):(meta|id|events|completed|failed)$/,
    most: 10,
    why: 'Internal to BullMQ; `events` has a bounded length',
  },
  {
    kind: '`queue:ingest:<number>`',
    pattern: /^queue:ingest:\d+$/,
    most: 20,
    why: 'The last 20 finished ingest jobs',
  },
  {
    kind: '`queue:timers:repeat`, `queue:timers:repeat:…`',
    pattern: /^queue:timers:repeat(:[\w-]{22}(:\d+)?)?$/,
    most: 100,
    why: 'Schedules, each with the job of its next tick',
  },
  {
    kind: '`queue:timers:delayed`, `queue:timers:<number>`',
    pattern: /^queue:timers:(delayed|\d+)$/,
    most: 20,
    why: 'Timers of batches and debounces until they are due, also of those that were full before',
  },
  {
    kind: '`queue:runs:<ID>`',
    pattern: /^queue:runs:[0-9A-Z]{26}[\w-]*$/,
    most: 1_000,
    why: 'The last 1,000 failed jobs of runs',
  },
];

/** Number of members that a report shows of a key. */
const SHOWN_MEMBERS = 3;

/** The default KEY_PREFIX, in a hash tag on a cluster (`{service:07:1a}:`). */
const PREFIX = /^(service|\{service[:\w]*\}):/;

export function withoutPrefix(key: string): string {
  return key.replace(PREFIX, '');
}

/** A run whose event a failover lost before it was acknowledged waits for it for two minutes, with a delayed job. */
const JOBS_GONE_WITHIN_MS = 150_000;
const JOB_KEYS = /^\d+ × \S*:queue:/;
const POLL_MS = 1_000;

/** Waits for jobs to go; a key of any other kind is a mistake at once.
 *  @param partitions their number
 *  @returns a line for each kind of key that is not listed or has too many keys */
export async function untilOnlyPermanentKeys(servers: readonly Redis[], partitions: number): Promise<string[]> {
  const deadline = performance.now() + JOBS_GONE_WITHIN_MS;
  for (;;) {
    const left = await findKeysWithoutTtl(servers, partitions);
    const mayGo = left.every((line) => JOB_KEYS.test(line));
    if (left.length === 0 || !mayGo || performance.now() > deadline) return left;
    await setTimeout(POLL_MS);
  }
}

async function findKeysWithoutTtl(servers: readonly Redis[], partitions: number): Promise<string[]> {
  const listed = new Map<PermanentKeys, number>();
  const others = new Map<string, { count: number; example: string }>();
  for (const redis of servers) {
    for await (const key of keysWithoutTtl(redis)) {
      const name = withoutPrefix(key);
      const kept = PERMANENT_KEYS.find(({ pattern }) => pattern.test(name));
      if (kept) increment(listed, kept);
      else await addExample(others, redis, key);
    }
  }
  const tooMany = [...listed].filter(([{ most }, count]) => count > most * partitions);
  return [
    ...tooMany.map(
      ([{ kind, most, why }, count]) => `${count} × ${kind} (${why}); expected at most ${most * partitions}`,
    ),
    ...[...others].map(([kind, { count, example }]) => `${count} × ${kind}, such as ${example}`),
  ];
}

async function* keysWithoutTtl(redis: Redis): AsyncIterable<string> {
  for await (const keys of redis.scanStream({ count: 500 }) as AsyncIterable<string[]>) {
    const pipeline = redis.pipeline();
    for (const key of keys) pipeline.ttl(key);
    const ttls = (await pipeline.exec()) ?? [];
    yield* keys.filter((_, index) => ttls[index]?.[1] === -1);
  }
}

/** Tells what the first key of its kind has, which shows where it comes from. */
async function addExample(
  others: Map<string, { count: number; example: string }>,
  redis: Redis,
  key: string,
): Promise<void> {
  const kind = withoutIds(key);
  const { count, example } = others.get(kind) ?? { count: 0, example: `${key}: ${await membersOf(redis, key)}` };
  others.set(kind, { count: count + 1, example });
}

async function membersOf(redis: Redis, key: string): Promise<string> {
  const type = await redis.type(key);
  if (type !== 'zset') return `a ${type}`;
  return `${(await redis.zrange(key, 0, String(SHOWN_MEMBERS - 1), 'WITHSCORES')).join(' ')} at ${Date.now()}`;
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function withoutIds(key: string): string {
  return key
    .replace(/[0-9A-HJKMNP-TV-Z]{26}/g, '<ID>')
    .replace(/[0-9a-f]{32,}/g, '<hash>')
    .replace(/\d+/g, '<number>');
}
