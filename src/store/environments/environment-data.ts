/** All that an environment has, to be deleted: in small steps, so that Redis comes to others in between, and any number of times, so that it does
 *  not matter where an earlier try ended. */
import { setTimeout } from 'node:timers/promises';
import type { Redis } from '../redis/connection.ts';
import { keyspace, OF_ENVIRONMENT } from '../redis/keyspace.ts';
import { memberOf } from '../runs/runs.ts';

const RUNS_AT_ONCE = 500;
const SCAN_COUNT = 1_000;
/** Between two looks at the keys of all. */
const PAUSE_MS = 5;
/** Stands for an environment's name where the form of a key is found out. */
const NAME = '\0';

export class EnvironmentData {
  readonly #redis: Redis;
  readonly #prefix: string;
  /** What keys of environments hold, by the words that stand between prefix and name. */
  readonly #kinds: readonly string[];

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
    const keys = keyspace(prefix) as unknown as Record<string, (...parts: string[]) => string>;
    this.#kinds = OF_ENVIRONMENT.map((name) => {
      const key = (keys[name] as (...parts: string[]) => string)(NAME, '', '');
      return key.slice(prefix.length + 1, key.indexOf(`:${NAME}`));
    });
  }

  /** What tells whether it is used: when the newest of its events that are stored was received, Unix milliseconds (0: there is none), and how
   *  many of its runs have not ended. */
  async usage(env: string): Promise<{ receivedAt: number; activeRuns: number }> {
    const { eventNames, activeRunsOf } = keyspace(this.#prefix);
    const [newest, activeRuns] = await Promise.all([
      this.#redis.zrevrange(eventNames(env), 0, '0', 'WITHSCORES'),
      this.#redis.zcard(activeRunsOf(env)),
    ]);
    return { receivedAt: Number(newest[1] ?? 0), activeRuns };
  }

  /** @param signal ends it early
   *  @returns how many keys it found, and has deleted */
  async deleteAll(env: string, signal: AbortSignal): Promise<number> {
    await this.#forgetActiveRuns(env, signal);
    let deleted = await this.#redis.unlink(this.#kinds.map((kind) => `${this.#prefix}:${kind}:${env}`));
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

  /** Names have nothing in them that a pattern would read as more than itself. */
  #scan(cursor: string, env: string): Promise<[cursor: string, keys: string[]]> {
    return this.#redis.scan(cursor, 'MATCH', `${this.#prefix}:*:${env}:*`, 'COUNT', SCAN_COUNT);
  }

  /** A name may stand elsewhere in a key, too: in an event's name, say. */
  #isOf(env: string, key: string): boolean {
    return this.#kinds.some((kind) => key.startsWith(`${this.#prefix}:${kind}:${env}:`));
  }

  /** The list of all active runs has those of every environment. */
  async #forgetActiveRuns(env: string, signal: AbortSignal): Promise<void> {
    const { activeRuns, activeRunsOf } = keyspace(this.#prefix);
    while (!signal.aborted) {
      const ids = await this.#redis.zrange(activeRunsOf(env), 0, String(RUNS_AT_ONCE - 1));
      if (ids.length === 0) return;
      await this.#redis.zrem(activeRuns, ...ids.map((id) => memberOf(env, id)));
      await this.#redis.zrem(activeRunsOf(env), ...ids);
    }
  }
}
