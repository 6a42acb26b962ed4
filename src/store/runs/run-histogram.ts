/** Counts runs in Redis by time of creation, from the indexes of lists: for a few functions from their own indexes, for all functions from
 *  those of the environment, which are by minute. */
import { RUN_GROUPS, type RunGroup } from '../../model/runs/run.ts';
import { floorTo, MINUTE_MS } from '../../model/values/time.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import { newest } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';
import type { EndedMinute, EndedRunIndex } from './ended-run-index.ts';

/** A histogram of more functions counts the runs of all functions. */
export const COUNTED_FUNCTIONS_MAX = 50;
/** Maximum number of counted index ranges per histogram of functions, about 50 ms of Redis's time. */
const COUNTS_MAX = 40_000;
/** Maximum number of counted minutes per histogram: 26 hours on 32 partitions. */
const MINUTES_MAX = 150_000;
const ENDINGS = RUN_GROUPS.filter((group) => group !== 'active');

export interface RunHistogramQuery {
  env: string;
  /** undefined: all functions. */
  functionIds: readonly string[] | undefined;
  /** Start of the first interval, a whole minute; Unix milliseconds. */
  from: number;
  /** Length of an interval: whole minutes. */
  stepMs: number;
  intervals: number;
}

/** Runs of an interval, active or by how they ended. */
export type RunInterval = { from: number } & Record<RunGroup, number>;

export class RunHistogram extends Repository<Redis, { endedRuns: EndedRunIndex }> {
  /** The maximum size of a histogram, so that its cost is bounded: many functions get longer intervals, many
   *  partitions a shorter time range. */
  bounds(functionIds: RunHistogramQuery['functionIds']): { intervals: number; rangeMs: number } {
    const partitions = this.keys.all().length;
    if (!countsEach(functionIds)) {
      return {
        intervals: Number.POSITIVE_INFINITY,
        rangeMs: Math.floor(MINUTES_MAX / ENDINGS.length / partitions) * MINUTE_MS,
      };
    }
    const indexes = Math.max(1, functionIds.length) * RUN_GROUPS.length * partitions;
    return { intervals: Math.max(1, Math.floor(COUNTS_MAX / indexes)), rangeMs: Number.POSITIVE_INFINITY };
  }

  /** @returns undefined: all functions are counted */
  countedFunctions(functionIds: RunHistogramQuery['functionIds']): RunHistogramQuery['functionIds'] {
    return countsEach(functionIds) ? functionIds : undefined;
  }

  async count(query: RunHistogramQuery): Promise<{ intervals: RunInterval[] }> {
    const none = Object.fromEntries(RUN_GROUPS.map((group) => [group, 0])) as Record<RunGroup, number>;
    const counted = Array.from({ length: query.intervals }, (_, i) => ({
      from: query.from + i * query.stepMs,
      ...none,
    }));
    const { functionIds } = query;
    if (countsEach(functionIds)) {
      await this.#addIndexes(counted, query, RUN_GROUPS, (keys, group) =>
        functionIds.map((id) => keys.runIndex(query.env, group, id)),
      );
    } else {
      await this.#addIndexes(counted, query, ['active'], (keys) => [keys.activeRunsIn(query.env)]);
      await this.#addEnded(counted, query);
    }
    return { intervals: counted };
  }

  /** IDs of ended runs that were created before a time, newest first; at most `limit` of each. */
  async endedBefore({ env, functionIds, from }: RunHistogramQuery, before: number, limit: number): Promise<string[]> {
    const timeRange = { after: from, before };
    if (from >= before) return [];
    const lists = ENDINGS.map((ending) => {
      if (!countsEach(functionIds)) return this.deps.endedRuns.newest({ env, ending, timeRange, limit });
      const indexes = this.keys.all().flatMap((keys) => functionIds.map((id) => keys.runIndex(env, ending, id)));
      return newest(this.redis, indexes, timeRange, limit);
    });
    return (await Promise.all(lists)).flat().map(({ id }) => id);
  }

  async #addIndexes(
    counted: RunInterval[],
    { stepMs }: RunHistogramQuery,
    groups: readonly RunGroup[],
    indexesOf: (keys: ReturnType<RunHistogram['keys']['of']>, group: RunGroup) => string[],
  ): Promise<void> {
    const wanted = counted.flatMap((interval) =>
      groups.flatMap((group) =>
        this.keys.all().flatMap((keys) => indexesOf(keys, group).map((key) => ({ interval, group, key }))),
      ),
    );
    const commands = wanted.map(({ interval: { from }, key }) => ['zcount', key, from, `(${from + stepMs}`]);
    const counts = await inPipelines<number>(this.redis, commands);
    for (const [i, { interval, group }] of wanted.entries()) interval[group] += counts[i] as number;
  }

  async #addEnded(counted: RunInterval[], { env, from, stepMs, intervals }: RunHistogramQuery): Promise<void> {
    const of = this.keys.all().flatMap((keys) => ENDINGS.map((ending) => ({ keys, env, ending })));
    const commands = of.map(({ keys, ending }) => {
      return ['zrangebyscore', keys.endedRunMinutes(env, ending), from, `(${from + intervals * stepMs}`];
    });
    const found = await inPipelines<string[]>(this.redis, commands);
    const minutes = found.flatMap((starts, i) =>
      starts.map((start): EndedMinute => ({ ...(of[i] as Omit<EndedMinute, 'minute'>), minute: Number(start) })),
    );
    const counts = await this.deps.endedRuns.countsIn(minutes);
    for (const [i, { minute, ending }] of minutes.entries()) {
      const interval = counted[Math.floor((minute - from) / stepMs)];
      if (interval) interval[ending] += counts[i] as number;
    }
  }
}

function countsEach(functionIds: RunHistogramQuery['functionIds']): functionIds is readonly string[] {
  return functionIds !== undefined && functionIds.length <= COUNTED_FUNCTIONS_MAX;
}

/** Intervals of whole minutes that cover a time range. */
export function minuteIntervals(from: number, to: number, most: number) {
  const stepMs = Math.max(1, Math.ceil((to - from) / most / MINUTE_MS)) * MINUTE_MS;
  const start = floorTo(from, MINUTE_MS);
  return { from: start, stepMs, intervals: Math.max(1, Math.ceil((to - start) / stepMs)) };
}
