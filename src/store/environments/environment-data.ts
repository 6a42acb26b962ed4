/** Deletes all data of an environment: in small steps, so that other commands are not blocked, and idempotently, so that an interrupted
 *  deletion can be repeated from the start. */
import { setTimeout } from 'node:timers/promises';
import { sum } from '../../model/values/sum.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import { primariesOf } from '../redis/connection/servers.ts';
import { ENVIRONMENT_KEY_WORDS, type PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';
import { memberOf } from '../runs/active-runs.ts';

const RUNS_AT_ONCE = 500;
const SCAN_COUNT = 1_000;
/** Pause between two scans. */
const PAUSE_MS = 5;

export class EnvironmentData extends Repository {
  /** Whether the environment is in use: when its newest stored event was received (Unix milliseconds; 0: none), and its number of active
   *  runs. */
  async usage(env: string): Promise<{ receivedAt: number; activeRuns: number }> {
    const partitions = this.keys.all();
    const [newest, active, offloaded] = await Promise.all([
      inPipelines<string[]>(
        this.redis,
        partitions.map((keys) => ['zrevrange', keys.eventNames(env), 0, 0, 'WITHSCORES']),
      ),
      inPipelines<number>(
        this.redis,
        partitions.map((keys) => ['zcard', keys.activeRunsIn(env)]),
      ),
      inPipelines<number>(
        this.redis,
        partitions.map((keys) => ['hlen', keys.offloadedRuns(env)]),
      ),
    ]);
    return {
      receivedAt: Math.max(...newest.map(([, at = 0]) => Number(at))),
      activeRuns: sum([...active, ...offloaded]),
    };
  }

  /** @param signal ends the deletion early
   *  @returns the number of deleted keys */
  async deleteAll(env: string, signal: AbortSignal): Promise<number> {
    for (const keys of this.keys.all()) await this.#removeActiveRuns(keys, env, signal);
    const prefixes = [this.keys.prefix, ...this.keys.all().map(({ prefix }) => prefix)];
    let deleted = 0;
    for (const prefix of new Set(prefixes)) {
      deleted += await this.redis.unlink(ENVIRONMENT_KEY_WORDS.map((word) => `${prefix}:${word}:${env}`));
    }
    for (const server of primariesOf(this.redis)) deleted += await this.#deleteFrom(server, env, prefixes, signal);
    return deleted;
  }

  async #deleteFrom(server: Redis, env: string, prefixes: readonly string[], signal: AbortSignal): Promise<number> {
    let deleted = 0;
    let cursor = '0';
    do {
      // Environment names contain no special characters of glob patterns.
      const [next, found] = await server.scan(cursor, 'MATCH', `*:${env}:*`, 'COUNT', SCAN_COUNT);
      cursor = next;
      // In a cluster, all keys of a command must be in one hash slot.
      for (const prefix of prefixes) {
        const own = found.filter((key) => isOf(prefix, env, key));
        if (own.length > 0) deleted += await this.redis.unlink(own);
      }
      await setTimeout(PAUSE_MS);
    } while (cursor !== '0' && !signal.aborted);
    return deleted;
  }

  /** The list of all active runs is shared by all environments. */
  async #removeActiveRuns(
    { activeRuns, activeRunsIn }: PartitionKeyspace,
    env: string,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      const ids = await this.redis.zrange(activeRunsIn(env), 0, String(RUNS_AT_ONCE - 1));
      if (ids.length === 0) return;
      await this.redis.zrem(activeRuns, ...ids.map((id) => memberOf(env, id)));
      await this.redis.zrem(activeRunsIn(env), ...ids);
    }
  }
}

/** Checks the position: an event name in another part of a key may equal the environment's name. */
function isOf(prefix: string, env: string, key: string): boolean {
  return ENVIRONMENT_KEY_WORDS.some((word) => key.startsWith(`${prefix}:${word}:${env}:`));
}
