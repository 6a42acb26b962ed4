/** Deletes all data of an environment: in small steps, so that other commands get through in between, and idempotently, so that a deletion
 *  that was interrupted can be repeated from the start. */
import { setTimeout } from 'node:timers/promises';
import type { Redis } from '../redis/connection.ts';
import { ENVIRONMENT_KEY_WORDS, keyspace } from '../redis/keyspace.ts';
import { memberOf } from '../runs/active-runs.ts';

const RUNS_AT_ONCE = 500;
const SCAN_COUNT = 1_000;
/** Between two scans. */
const PAUSE_MS = 5;

export class EnvironmentData {
  readonly #redis: Redis;
  readonly #prefix: string;

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /** Whether the environment is in use: the time of receipt of its newest stored event (Unix milliseconds; 0: none), and the number of its
   *  active runs. */
  async usage(env: string): Promise<{ receivedAt: number; activeRuns: number }> {
    const { eventNames, activeRunsIn } = keyspace(this.#prefix);
    const [newest, activeRuns] = await Promise.all([
      this.#redis.zrevrange(eventNames(env), 0, '0', 'WITHSCORES'),
      this.#redis.zcard(activeRunsIn(env)),
    ]);
    return { receivedAt: Number(newest[1] ?? 0), activeRuns };
  }

  /** @param signal ends it early
   *  @returns how many keys it deleted */
  async deleteAll(env: string, signal: AbortSignal): Promise<number> {
    await this.#removeActiveRuns(env, signal);
    let deleted = await this.#redis.unlink(ENVIRONMENT_KEY_WORDS.map((word) => `${this.#prefix}:${word}:${env}`));
    let cursor = '0';
    do {
      const [next, found] = await this.#scan(cursor, env);
      cursor = next;
      const own = found.filter((key) => this.#isOf(env, key));
      if (own.length > 0) deleted += await this.#redis.unlink(own);
      await setTimeout(PAUSE_MS);
    } while (cursor !== '0' && !signal.aborted);
    return deleted;
  }

  /** Names of environments contain no special characters of glob patterns. */
  #scan(cursor: string, env: string): Promise<[cursor: string, keys: string[]]> {
    return this.#redis.scan(cursor, 'MATCH', `${this.#prefix}:*:${env}:*`, 'COUNT', SCAN_COUNT);
  }

  /** The name of the environment may also be elsewhere in a key, for example in an event name. */
  #isOf(env: string, key: string): boolean {
    return ENVIRONMENT_KEY_WORDS.some((word) => key.startsWith(`${this.#prefix}:${word}:${env}:`));
  }

  /** The list of all active runs is shared by all environments. */
  async #removeActiveRuns(env: string, signal: AbortSignal): Promise<void> {
    const { activeRuns, activeRunsIn } = keyspace(this.#prefix);
    while (!signal.aborted) {
      const ids = await this.#redis.zrange(activeRunsIn(env), 0, String(RUNS_AT_ONCE - 1));
      if (ids.length === 0) return;
      await this.#redis.zrem(activeRuns, ...ids.map((id) => memberOf(env, id)));
      await this.#redis.zrem(activeRunsIn(env), ...ids);
    }
  }
}
