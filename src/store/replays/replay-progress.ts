/** The progress of replays, portion by portion. The runs of a portion are registered before they are started, and counted when the portion is saved;
 *  what a worker left undone that died in between is found by the registration. */
import type { FailureReason, ReplayPosition, SkipReason } from '../../model/replays/replay.ts';
import type { RunStatus } from '../../model/runs/run.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { memberOf } from '../runs/active-runs.ts';
import { ENDED, FAILED_TO_START, SKIPPED, type StoredReplay } from './replays.ts';

const RESULTS_MAX = 100_000;
/** Of them; the rest is for runs. */
const SKIPPED_MAX = 50_000;

/** What happened for an event and a function. */
export interface ReplayResult {
  eventId: string;
  functionId: string;
  outcome: 'started' | 'skipped' | 'failed';
  reason?: SkipReason | FailureReason;
  /** Of `started`: the run; of others, the run because of which. */
  runId?: string;
  /** The former run. */
  retryOf?: string;
}

export interface Registered {
  /** How many of the first runs may be started. */
  count: number;
  untilNextSecondMs: number;
}

export interface Portion {
  /** undefined: it stays where it is. */
  position?: ReplayPosition | undefined;
  windowMs?: number | undefined;
  lookedAt: number;
  matched: number;
  results: readonly ReplayResult[];
  /** Runs that were registered and do not exist. */
  gone: readonly string[];
  workedMs: number;
  dueAt: number;
  /** It has looked at everything. */
  doneAt?: number | undefined;
}

export class ReplayProgress {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #ttlMs: number;

  constructor(redis: ScriptedRedis, keys: Keyspace, ttlMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#ttlMs = ttlMs;
  }

  /** Run ID → event ID of the runs that are registered and not yet saved: a worker died, or is at work. */
  async registered(env: string, id: string): Promise<Map<string, string>> {
    return new Map(Object.entries(await this.#redis.hgetall(this.#keys.replayPortion(env, id))));
  }

  /** Registers runs before they are started, as many as the rate allows.
   *  @returns undefined: another worker has gone on, or the replay does not run */
  async register(
    { env, id, portion, rate }: StoredReplay,
    runs: readonly { runId: string; eventId: string }[],
  ): Promise<Registered | undefined> {
    const [count, untilNextSecondMs] = (await this.#redis.registerReplayRuns(
      this.#keys.replay(env, id),
      this.#keys.replayPortion(env, id),
      this.#keys.replayActiveRuns(env, id),
      portion,
      rate,
      this.#ttlMs,
      ...runs.flatMap(({ runId, eventId }) => [runId, eventId]),
    )) as [number, number];
    return count === -1 ? undefined : { count, untilNextSecondMs };
  }

  /** @returns whether it was saved; another worker may have gone on */
  async save({ env, id, portion: number }: StoredReplay, portion: Portion): Promise<boolean> {
    const { position, windowMs, results, gone, dueAt, doneAt } = portion;
    const given = {
      number,
      id,
      member: memberOf(env, id),
      ttl: this.#ttlMs,
      fields: {
        ...(position && { position: JSON.stringify(position) }),
        ...(windowMs !== undefined && { window_ms: windowMs }),
      },
      removed: ['waiting'],
      counts: countsOf(portion),
      results: results.map((result) => ({
        text: JSON.stringify(result),
        ...(result.outcome === 'skipped' && { skipped: true }),
      })),
      results_max: RESULTS_MAX,
      skipped_max: SKIPPED_MAX,
      gone,
      due_at: dueAt,
      ...(doneAt !== undefined && { done_at: doneAt }),
    };
    const { replay, replayPortion, replayActiveRuns, replayResults, dueReplays, replays, openReplays } = this.#keys;
    const ofReplay = [replay, replayPortion, replayActiveRuns, replayResults].map((key) => key(env, id));
    const keys = [...ofReplay, dueReplays, replays(env), openReplays(env)] as const;
    return (await this.#redis.saveReplayPortion(...keys, JSON.stringify(given))) === 1;
  }

  /** Counts the end of a run of a replay, once. */
  async recordEnd(env: string, id: string, runId: string, status: RunStatus): Promise<void> {
    const { replay, replayActiveRuns } = this.#keys;
    await this.#redis.endReplayedRun(replayActiveRuns(env, id), replay(env, id), runId, ENDED + status);
  }

  /** Some of the runs that are active, at random. */
  async someActive(env: string, id: string, count: number): Promise<string[]> {
    return this.#redis.srandmember(this.#keys.replayActiveRuns(env, id), count);
  }

  /** A run that does not exist is not active. */
  async forgetRuns(env: string, id: string, runIds: readonly string[]): Promise<void> {
    if (runIds.length > 0) await this.#redis.srem(this.#keys.replayActiveRuns(env, id), ...runIds);
  }

  /** Results from a number on. */
  async results(env: string, id: string, from: number, limit: number): Promise<ReplayResult[]> {
    const texts = await this.#redis.lrange(this.#keys.replayResults(env, id), from, from + limit - 1);
    return texts.map((text) => JSON.parse(text) as ReplayResult);
  }
}

function countsOf({ lookedAt, matched, results, workedMs }: Portion): Record<string, number> {
  const counts: Record<string, number> = { looked_at: lookedAt, matched, worked_ms: Math.round(workedMs) };
  const add = (field: string) => {
    counts[field] = (counts[field] ?? 0) + 1;
  };
  for (const { outcome, reason } of results) {
    if (outcome === 'started') add('started');
    else add((outcome === 'skipped' ? SKIPPED : FAILED_TO_START) + reason);
  }
  return counts;
}
