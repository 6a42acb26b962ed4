/** Steps of a run: a finished step has a memo; a step that has begun and not finished is pending. */
import { MAX_STATE_BYTES, MAX_STEPS, type Memo, type Pending } from '../../model/runs/memo.ts';
import type { Run } from '../../model/runs/run.ts';
import { locationOf } from '../events/event-location.ts';
import { replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import { fromFlat, type ScriptedRedis } from '../redis/scripts.ts';
import { toRun } from './run-fields.ts';

/** Result of storing a memo. `was`: the step while it was pending. `there`: an earlier memo stands. `steps`, `bytes`: the run has too
 *  many. */
export type MemoOutcome =
  | { outcome: 'stored'; stackLength: number; run: Run; was: Pending | undefined }
  | { outcome: 'there' | 'steps' | 'bytes'; stackLength: number; run: Run }
  | { outcome: 'ended' | 'gone' };

export class Steps {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #retentionMs: number;

  constructor(redis: ScriptedRedis, keys: Keyspace, retentionMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#retentionMs = retentionMs;
  }

  /** Stores the result of a step; an earlier memo of the same step stands. */
  async memoize(env: string, runId: string, stepId: string, memo: Memo): Promise<MemoOutcome> {
    const key = this.#keys.run(env, runId);
    const reply = await this.#redis.storeMemo(key, stepId, JSON.stringify(memo), MAX_STEPS, MAX_STATE_BYTES);
    const [outcome, stackLength, fields, was] = reply as [
      'stored' | 'there' | 'steps' | 'bytes' | 'ended' | 'gone',
      number,
      string[],
      string | null,
    ];
    if (outcome === 'ended' || outcome === 'gone') return { outcome };
    const run = toRun(env, runId, fromFlat(fields));
    if (outcome !== 'stored') return { outcome, stackLength, run };
    return { outcome, stackLength, run, was: was ? (JSON.parse(was) as Pending) : undefined };
  }

  /** Records that a step has begun. The run's event is kept until the step is over, and then for the retention.
   *  @returns the pending step that was recorded first; undefined: the step is finished, or the run has ended; 'steps': the run has too many */
  async begin(
    run: Pick<Run, 'env' | 'id' | 'eventId'>,
    stepId: string,
    step: Pending,
  ): Promise<Pending | 'steps' | undefined> {
    const { env, id, eventId } = run;
    const { bucket, field, overflow } = locationOf(this.#keys, env, eventId);
    const eventTtlMs = this.#retentionMs + Math.max(0, (step.until ?? 0) - step.since);
    const text = JSON.stringify(step);
    const keys = [this.#keys.run(env, id), bucket, overflow];
    const reply = (await this.#redis.planStep(...keys, stepId, text, eventTtlMs, field, MAX_STEPS)) as string | null;
    if (reply === 'steps') return 'steps';
    return reply ? (JSON.parse(reply) as Pending) : undefined;
  }

  /** The pending steps, and the number of finished ones. */
  async progress(env: string, runId: string): Promise<{ pending: Map<string, Pending>; done: number }> {
    const pipeline = this.#redis.pipeline();
    pipeline.hgetall(this.#keys.pending(env, runId)).llen(this.#keys.stack(env, runId));
    const [pending, done] = replies<unknown>(await pipeline.exec()) as [Record<string, string>, number];
    return { pending: new Map(Object.entries(pending).map(([id, text]) => [id, JSON.parse(text) as Pending])), done };
  }

  /** The memo of a finished step, as JSON text; undefined: it is not finished. */
  async memo(env: string, runId: string, stepId: string): Promise<string | undefined> {
    return (await this.#redis.hget(this.#keys.memos(env, runId), stepId)) ?? undefined;
  }

  async memos(env: string, runId: string): Promise<Record<string, Memo>> {
    const texts = await this.#redis.hgetall(this.#keys.memos(env, runId));
    return Object.fromEntries(Object.entries(texts).map(([id, text]) => [id, JSON.parse(text) as Memo]));
  }
}
