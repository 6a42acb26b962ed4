/** What bulk actions did with each run, in the order in which they came to them. An entry is `<number> <run ID> <re-run ID, reason, or nothing>`, under its
 *  number. */
import { BULK_SKIP_REASONS, type BulkResult, type BulkSkipReason, RESULTS_MAX } from '../../model/runs/bulk-action.ts';
import { replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

const TTL_MAX_MS = 7 * 86_400_000;

export class BulkResults {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #ttlMs: number;

  constructor(redis: ScriptedRedis, keys: Keyspace, retentionMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#ttlMs = Math.min(retentionMs, TTL_MAX_MS);
  }

  /** Idempotent: what was stored of these numbers is replaced.
   *  @param from the number of the first one */
  async store(env: string, id: string, from: number, results: readonly BulkResult[]): Promise<void> {
    const stored = results.slice(0, Math.max(0, RESULTS_MAX - from));
    if (stored.length === 0) return;
    const key = this.#keys.bulkResults(env, id);
    const entries = stored.flatMap((result, i) => [from + i, textOf(from + i, result)]);
    const writing = this.#redis.multi().zremrangebyscore(key, from, `${from + stored.length - 1}`);
    replies(
      await writing
        .zadd(key, ...entries)
        .pexpire(key, this.#ttlMs)
        .exec(),
    );
  }

  /** Those from a number on. */
  async read(env: string, id: string, from: number, limit: number): Promise<BulkResult[]> {
    const texts = await this.#redis.zrange(this.#keys.bulkResults(env, id), from, `${from + limit - 1}`);
    return texts.map(resultOf);
  }
}

function textOf(number: number, { runId, rerunId, skip }: BulkResult): string {
  return `${number} ${runId} ${rerunId ?? skip ?? ''}`;
}

function resultOf(text: string): BulkResult {
  const [, runId = '', rest = ''] = text.split(' ');
  if (rest === '') return { runId };
  return isSkipReason(rest) ? { runId, skip: rest } : { runId, rerunId: rest };
}

function isSkipReason(text: string): text is BulkSkipReason {
  return (BULK_SKIP_REASONS as readonly string[]).includes(text);
}
