/** What must be so when all has rested longer than HOT_HOURS: Postgres has everything once, and Redis nothing of it any more. */
import { setTimeout } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { PostgresServer } from '../postgres.ts';
import { withoutPrefix } from './keys.ts';

/** The lease of a killed archiver ends, another takes over, and looks at events whose runs were active. */
const ARCHIVED_WITHIN_MS = 120_000;
const POLL_MS = 500;
/** Maximum number of remaining keys shown, and the length of their content. */
const SHOWN_KEYS = 40;
const SHOWN_CHARACTERS = 2_000;
/** Keys that have nothing of single events and runs, or that are claims of IDs, results of replays, or live for minutes; and what is learned
 *  about an event after it was archived, which readers add (history/): late repeats, and decisions of debounces. An original request stays for its
 *  TTL if the entry of the log with which it would leave was lost, because Redis or the web process died before that was written. */
const LASTING =
  /^(alert-|past-alerts|duplicates|decisions|overflow-decisions|bulk-|batch-look|debounce-look|last-debounce|lane-look|last-in-lane|original-request|dedup|event-name|event-sources|apps|app-versions|version-choices|connect|ready-connections|functions|functions-version|paused-functions|function-settings|held-functions|missed-ticks|trigger-history|queue|metrics|function-metrics|function-series|step-series|step-numbers|recent-durations|error-group|function-error-groups|deploys|app-deploys|process|partition|live-workers|secret-key-check|lock|cache-version|environments|archive-status|webhook|removed-webhooks|audit-log|failure)/;

/** Waits for it.
 *  @returns kinds of keys that are left of events and runs */
export async function untilArchived(servers: () => Promise<Redis[]>): Promise<string[]> {
  const deadline = performance.now() + ARCHIVED_WITHIN_MS;
  for (;;) {
    const left = await keysOfEvents(await servers());
    if (left.length === 0 || performance.now() > deadline) return left;
    await setTimeout(POLL_MS);
  }
}

async function keysOfEvents(servers: readonly Redis[]): Promise<string[]> {
  const left: string[] = [];
  for (const redis of servers) {
    for await (const keys of redis.scanStream({ count: 1_000 }) as AsyncIterable<string[]>)
      left.push(...keys.filter((key) => !LASTING.test(withoutPrefix(key))));
  }
  return left;
}

/** Shows keys: all by name, the first with TTL and content. */
export async function describeKeys(servers: readonly Redis[], keys: readonly string[]): Promise<string> {
  const shown: string[] = [];
  for (const redis of servers) {
    for (const key of keys.slice(0, SHOWN_KEYS)) {
      // A node of a cluster knows only its own.
      const type = await redis.type(key).catch(() => 'none');
      if (type !== 'none')
        shown.push(`${key} (${type}, TTL ${await redis.pttl(key)} ms)\n  ${await contentOf(redis, key, type)}`);
    }
  }
  return [...keys, '', ...shown, ''].join('\n');
}

async function contentOf(redis: Redis, key: string, type: string): Promise<string> {
  const read: Record<string, () => Promise<unknown>> = {
    string: () => redis.get(key),
    hash: () => redis.hgetall(key),
    list: () => redis.lrange(key, 0, -1),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, '0', '-1', 'WITHSCORES'),
  };
  return JSON.stringify(await read[type]?.()).slice(0, SHOWN_CHARACTERS);
}

/** @returns what contradicts itself in the tables */
export async function checkTables(postgres: PostgresServer): Promise<string[]> {
  const client = await postgres.connect();
  try {
    const { rows } = await client.query<Record<string, number>>(
      `SELECT (SELECT count(*)::int FROM events) AS events, (SELECT count(DISTINCT id)::int FROM events) AS event_ids,
              (SELECT count(*)::int FROM runs) AS runs, (SELECT count(DISTINCT id)::int FROM runs) AS run_ids,
              (SELECT coalesce(sum(count), 0)::int FROM event_counts) AS by_minute,
              (SELECT coalesce(sum(count), 0)::int FROM event_name_days) AS by_day,
              (SELECT coalesce(sum(rows), 0)::int FROM archived_days WHERE kind = 'events') AS event_rows,
              (SELECT coalesce(sum(rows), 0)::int FROM archived_days WHERE kind = 'runs') AS run_rows`,
    );
    const found = rows[0] ?? {};
    const ofEvents = ['event_ids', 'by_minute', 'by_day', 'event_rows'].map((one) => ['events', one] as const);
    const ofRuns = ['run_ids', 'run_rows'].map((one) => ['runs', one] as const);
    return [...ofEvents, ...ofRuns].flatMap(([all, part]) =>
      found[all] === found[part] ? [] : `${found[all]} ${all}, but ${part} is ${found[part]}`,
    );
  } finally {
    await client.end();
  }
}

/** How many runs were in Postgres while they slept or waited. */
export async function countOffloaded(postgres: PostgresServer): Promise<number> {
  const client = await postgres.connect();
  try {
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM offloaded_runs');
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}
