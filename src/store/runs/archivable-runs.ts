/** Ended runs on their way to the archive: all that Redis has of them, and their removal once they are archived. */
import type { Ending, RunStatus } from '../../model/runs/run.ts';
import { inPipelines } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { RUN_SUFFIXES, SEGMENT_LENGTHS_MS } from './keys.ts';
import { RUN_FIELDS } from './run-fields.ts';

/** What decides whether a run is archived. */
export interface RunState {
  id: string;
  status: RunStatus;
  eventId: string;
  functionId: string;
  /** Unix milliseconds. */
  queuedAt: number;
  /** About, of output and memos. */
  bytes: number;
}

/** As Redis has it. */
export interface RunContents {
  env: string;
  id: string;
  fields: Record<string, string>;
  memos: Record<string, string>;
  stack: string[];
  history: string[];
  metadata: Record<string, string>;
}

const { status, eventId, functionId, queuedAt, memoBytes, output } = RUN_FIELDS;
const STATE_FIELDS = [status, eventId, functionId, queuedAt, memoBytes];
const AT_ONCE = 500;
const ID_LENGTH = 26;
const MINUTE_MS = 60_000;
/** A segment with fewer entries has room, and there are no shorter ones (ended-run-index.ts). */
const SEGMENT_SIZE_MIN = 512;

export class ArchivableRuns {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** By run ID; runs that Redis does not have are absent. */
  async states(env: string, ids: readonly string[]): Promise<Map<string, RunState>> {
    const commands = ids.flatMap((id) => {
      const key = this.#keys.of(id).run(env, id);
      return [
        ['hmget', key, ...STATE_FIELDS],
        ['hstrlen', key, output],
      ];
    });
    const found = await inPipelines<unknown>(this.#redis, commands);
    return new Map(
      ids.flatMap((id, i) => {
        const [status, eventId, functionId, queuedAt, memoBytes] = found[2 * i] as (string | null)[];
        if (!status) return [];
        const bytes = Number(memoBytes ?? 0) + (found[2 * i + 1] as number);
        const state = { id, status: status as RunStatus, eventId: eventId as string, functionId: functionId as string };
        return [[id, { ...state, queuedAt: Number(queuedAt), bytes }]];
      }),
    );
  }

  /** In the order of the IDs; runs that Redis does not have are left out. */
  async read(env: string, ids: readonly string[]): Promise<RunContents[]> {
    const commands = ids.flatMap((id) => {
      const key = this.#keys.of(id).run(env, id);
      const { memos, stack, history, metadata } = RUN_SUFFIXES;
      return [
        ['hgetall', key],
        ['hgetall', key + memos],
        ['lrange', key + stack, 0, -1],
        ['lrange', key + history, 0, -1],
        ['hgetall', key + metadata],
      ];
    });
    const found = await inPipelines<unknown>(this.#redis, commands);
    return ids.flatMap((id, i) => {
      const [fields, memos, stack, history, metadata] = found.slice(5 * i, 5 * i + 5) as [
        Record<string, string>,
        Record<string, string>,
        string[],
        string[],
        Record<string, string>,
      ];
      return fields[status] ? [{ env, id, fields, memos, stack, history, metadata }] : [];
    });
  }

  /** Removes runs that are archived. */
  async free(env: string, runs: readonly RunState[]): Promise<void> {
    const indexes = Map.groupBy(runs, (run) =>
      this.#keys.of(run.id).runIndex(env, run.status as Ending['status'], run.functionId),
    );
    await inPipelines(this.#redis, [
      ...runs.map(({ id }) => {
        const key = this.#keys.of(id).run(env, id);
        return ['unlink', key, ...Object.values(RUN_SUFFIXES).map((suffix) => key + suffix)];
      }),
      ...[...indexes].flatMap(([key, some]) => chunksOf(some.map(({ id }) => id)).map((ids) => ['zrem', key, ...ids])),
    ]);
  }

  /** Removes the oldest minutes of the index of ended runs, up to a time, that have no run left in Redis.
   *  @returns the minutes that were looked at */
  async freeMinutes(
    partition: number,
    env: string,
    ending: Ending['status'],
    { from, upTo, limit }: { from: number; upTo: number; limit: number },
  ): Promise<number[]> {
    const keys = this.#keys.partition(partition);
    const minutesKey = keys.endedRunMinutes(env, ending);
    const minutes = await this.#redis.zrangebyscore(minutesKey, from, `(${upTo}`, 'LIMIT', 0, limit);
    for (const minute of minutes.map(Number)) {
      const { segments, entries } = await this.#segments((segment) => keys.endedRuns(env, ending, segment), minute);
      const ids = entries.flat().map((entry) => entry.slice(0, ID_LENGTH));
      if (await this.#areAny(env, ids)) continue;
      const used = segments.flatMap((key, i) => {
        const length = (entries[i] as string[]).length;
        return length > 0 ? [{ key, length }] : [];
      });
      await this.#redis.freeEndedMinute(
        1 + used.length,
        minutesKey,
        ...used.map(({ key }) => key),
        minute,
        ...used.map(({ length }) => length),
      );
    }
    return minutes.map(Number);
  }

  /** The segments of a minute with their entries, the shortest first. Most minutes have only one. */
  async #segments(
    keyOf: (segment: string) => string,
    minute: number,
  ): Promise<{ segments: string[]; entries: string[][] }> {
    const longest = keyOf(`${MINUTE_MS}:${minute}`);
    const ofLongest = await this.#redis.lrange(longest, 0, -1);
    if (ofLongest.length < SEGMENT_SIZE_MIN) return { segments: [longest], entries: [ofLongest] };
    const segments = segmentsOf(minute).map(keyOf);
    const commands = segments.map((key) => ['lrange', key, 0, -1]);
    return { segments, entries: await inPipelines<string[]>(this.#redis, commands) };
  }

  async #areAny(env: string, ids: readonly string[]): Promise<boolean> {
    for (const some of chunksOf(ids)) {
      const byPartition = Map.groupBy(some, (id) => this.#keys.of(id));
      const commands = [...byPartition].map(([keys, ofOne]) => ['exists', ...ofOne.map((id) => keys.run(env, id))]);
      const counts = await inPipelines<number>(this.#redis, commands);
      if (counts.some((count) => count > 0)) return true;
    }
    return false;
  }
}

/** Of a minute, the shortest first. */
function segmentsOf(minute: number): string[] {
  return SEGMENT_LENGTHS_MS.toReversed().flatMap((length) =>
    Array.from({ length: MINUTE_MS / length }, (_, i) => `${length}:${minute + i * length}`),
  );
}

function chunksOf<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / AT_ONCE) }, (_, i) => list.slice(i * AT_ONCE, (i + 1) * AT_ONCE));
}
