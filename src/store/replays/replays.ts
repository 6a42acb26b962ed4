/** Replays: what they are asked to do, how far they are, and which of them are due to go on. */
import { ServiceError } from '../../errors.ts';
import type { ReplayDefinition, ReplayPosition, ReplayStatus, WaitingReason } from '../../model/replays/replay.ts';
import { inPipelines, type Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { memberOf } from '../runs/active-runs.ts';

/** Per environment: those that may start more runs, and all. */
export const OPEN_MAX = 10;
export const KEPT_MAX = 1_000;
const KEPT_MAX_MS = 30 * 86_400_000;

/** Counts of a replay. */
export interface ReplayCounts {
  lookedAt: number;
  matched: number;
  started: number;
  skipped: Record<string, number>;
  failedToStart: Record<string, number>;
  /** How the runs ended that it started. */
  ended: Record<'Completed' | 'Failed' | 'Cancelled', number>;
  active: number;
  /** Results that were not kept. */
  resultsOmitted: number;
}

export interface StoredReplay extends ReplayDefinition {
  status: ReplayStatus;
  position: ReplayPosition;
  /** Length of the time range that is read next (ms). */
  windowMs: number;
  /** Number of the portion that is next, as text. */
  portion: string;
  counts: ReplayCounts;
  waiting?: WaitingReason | undefined;
  /** When it had looked at all events, or was cancelled. */
  doneAt?: number | undefined;
  /** Time that it has worked until its last portion (ms). */
  workedMs: number;
}

/** Fields of a replay that count. */
export const SKIPPED = 'skipped:';
export const FAILED_TO_START = 'failed-to-start:';
export const ENDED = 'ended:';

export interface Due {
  env: string;
  id: string;
}

/** @param retentionMs of everything */
export function keptMs(retentionMs: number): number {
  return Math.min(retentionMs, KEPT_MAX_MS);
}

export class Replays {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #ttlMs: number;

  /** @param ttlMs after so long without a change, a replay is forgotten */
  constructor(redis: ScriptedRedis, keys: Keyspace, ttlMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#ttlMs = ttlMs;
  }

  /** @throws ServiceError quota_exceeded */
  async add(definition: ReplayDefinition, windowMs: number): Promise<void> {
    const { env, id, after, createdAt } = definition;
    await this.#forget(env, createdAt);
    const added = await this.#redis.addReplay(
      this.#keys.replay(env, id),
      this.#keys.replays(env),
      this.#keys.openReplays(env),
      this.#keys.dueReplays,
      id,
      memberOf(env, id),
      createdAt,
      this.#ttlMs,
      OPEN_MAX,
      ...['definition', JSON.stringify(definition), 'status', 'running' satisfies ReplayStatus, 'portion', 0],
      ...['position', JSON.stringify({ at: after } satisfies ReplayPosition), 'window_ms', windowMs, 'worked_ms', 0],
    );
    if (added === 1) return;
    throw new ServiceError('quota_exceeded', {
      detail: `${OPEN_MAX} replays of the environment run or are paused; cancel one, or wait until one is done`,
      facts: { allowed: OPEN_MAX, there: OPEN_MAX },
    });
  }

  /** Makes room for one more, and removes what has expired. */
  async #forget(env: string, nowMs: number): Promise<void> {
    const key = this.#keys.replays(env);
    const ids = await this.#redis.zrange(key, 0, String(-KEPT_MAX));
    const open = new Set(await this.#redis.smembers(this.#keys.openReplays(env)));
    for (const id of ids) if (!open.has(id)) await this.#remove(env, id);
    // Those that are open are renewed with each portion, or when somebody changes them.
    for (const id of open)
      if ((await this.#redis.exists(this.#keys.replay(env, id))) === 0) await this.#remove(env, id);
    await this.#redis.zremrangebyscore(key, '-inf', nowMs - 2 * this.#ttlMs);
  }

  async #remove(env: string, id: string): Promise<void> {
    const { replay, replayPortion, replayActiveRuns, replayResults } = this.#keys;
    await this.#redis.zrem(this.#keys.dueReplays, memberOf(env, id));
    await this.#redis.zrem(this.#keys.replays(env), id);
    await this.#redis.srem(this.#keys.openReplays(env), id);
    await this.#redis.unlink([replay, replayPortion, replayActiveRuns, replayResults].map((key) => key(env, id)));
  }

  async read(env: string, id: string): Promise<StoredReplay | undefined> {
    return (await this.#readMany(env, [id]))[0];
  }

  /** Newest first.
   *  @param before ID; undefined: from the newest
   *  @param statuses undefined: all */
  async list(
    env: string,
    before: string | undefined,
    limit: number,
    statuses?: readonly ReplayStatus[],
  ): Promise<StoredReplay[]> {
    const ids = (await this.#redis.zrange(this.#keys.replays(env), 0, '-1')).sort().reverse();
    const rest = before === undefined ? ids : ids.filter((id) => id < before);
    const found: StoredReplay[] = [];
    // Some may have expired.
    for (let at = 0; at < rest.length && found.length < limit; at += limit) {
      const read = await this.#readMany(env, rest.slice(at, at + limit));
      found.push(...read.filter(({ status }) => !statuses || statuses.includes(status)));
    }
    return found.slice(0, limit);
  }

  async #readMany(env: string, ids: readonly string[]): Promise<StoredReplay[]> {
    if (ids.length === 0) return [];
    const commands = ids.flatMap((id) => [
      // First: a run that ends in between is then counted twice for a moment. Otherwise it would be missing, with none active.
      ['scard', this.#keys.replayActiveRuns(env, id)],
      ['hgetall', this.#keys.replay(env, id)],
    ]);
    const found = await inPipelines<Record<string, string> | number>(this.#redis as Redis, commands);
    return ids.flatMap((_, i) => {
      const fields = found[2 * i + 1] as Record<string, string>;
      return fields.definition && fields.status ? [toReplay(fields, found[2 * i] as number)] : [];
    });
  }

  /** @param from statuses that it may have
   *  @returns whether it was changed; undefined: there is no such replay */
  async change(
    env: string,
    id: string,
    status: ReplayStatus,
    from: readonly ReplayStatus[],
    nowMs: number,
  ): Promise<boolean | undefined> {
    const staysOpen = status === 'running' || status === 'paused' ? 1 : 0;
    const fields = status === 'cancelled' ? ['done_at', nowMs] : [];
    const changed = await this.#redis.changeReplay(
      this.#keys.replay(env, id),
      this.#keys.dueReplays,
      this.#keys.openReplays(env),
      id,
      memberOf(env, id),
      nowMs,
      status,
      staysOpen,
      from.join(','),
      ...fields,
    );
    return changed === -1 ? undefined : changed === 1;
  }

  /** The longest overdue first. */
  async due(nowMs: number, limit: number): Promise<Due[]> {
    const members = await this.#redis.zrangebyscore(this.#keys.dueReplays, '-inf', nowMs, 'LIMIT', 0, limit);
    return members.map((member) => {
      const slash = member.lastIndexOf('/');
      return { env: member.slice(0, slash), id: member.slice(slash + 1) };
    });
  }

  /** Of the next one, Unix milliseconds; undefined: none goes on by itself. */
  async nextDueAt(): Promise<number | undefined> {
    const [, dueAt] = await this.#redis.zrange(this.#keys.dueReplays, 0, '0', 'WITHSCORES');
    return dueAt === undefined ? undefined : Number(dueAt);
  }

  /** It goes on then; without a time not at all, unless somebody changes it. */
  async setDue(env: string, id: string, dueAt: number | undefined): Promise<void> {
    const member = memberOf(env, id);
    if (dueAt === undefined) await this.#redis.zrem(this.#keys.dueReplays, member);
    else await this.#redis.zadd(this.#keys.dueReplays, 'XX', dueAt, member);
  }

  /** Why it starts no runs for now. */
  async setWaiting(env: string, id: string, reason: WaitingReason): Promise<void> {
    const key = this.#keys.replay(env, id);
    if ((await this.#redis.exists(key)) === 1) await this.#redis.hset(key, 'waiting', reason);
  }
}

function toReplay(fields: Record<string, string>, active: number): StoredReplay {
  const { definition = '', status, position = '', window_ms, portion = '0', waiting, done_at, worked_ms } = fields;
  const { looked_at, matched, started, results_omitted } = fields;
  const ended = countsOf(fields, ENDED);
  return {
    ...(JSON.parse(definition) as ReplayDefinition),
    status: status as ReplayStatus,
    position: JSON.parse(position) as ReplayPosition,
    windowMs: Number(window_ms),
    portion,
    counts: {
      lookedAt: Number(looked_at ?? 0),
      matched: Number(matched ?? 0),
      started: Number(started ?? 0),
      skipped: countsOf(fields, SKIPPED),
      failedToStart: countsOf(fields, FAILED_TO_START),
      ended: { Completed: ended.Completed ?? 0, Failed: ended.Failed ?? 0, Cancelled: ended.Cancelled ?? 0 },
      active,
      resultsOmitted: Number(results_omitted ?? 0),
    },
    waiting: waiting as WaitingReason | undefined,
    doneAt: done_at === undefined ? undefined : Number(done_at),
    workedMs: Number(worked_ms ?? 0),
  };
}

function countsOf(fields: Record<string, string>, prefix: string): Record<string, number> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([field]) => field.startsWith(prefix))
      .map(([field, count]) => [field.slice(prefix.length), Number(count)]),
  );
}
