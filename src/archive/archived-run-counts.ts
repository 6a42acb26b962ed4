/** Counts archived runs over time: ended runs, and active runs that sleep in Postgres. Reads one window at a time, the newest first, until
 *  the time limit is reached. */
import { RUN_GROUPS, type RunGroup } from '../model/runs/run.ts';
import type { RunHistogramQuery } from '../store/runs/run-histogram.ts';
import { conditionsOnFunctions } from './archived-runs.ts';
import type { ArchivedScopes, Scope } from './archived-scopes.ts';
import { Conditions } from './conditions.ts';
import { isTimeout, Repository, toText, toUuids } from './database.ts';
import type { Numbers } from './numbers.ts';
import { STATUS_NUMBERS } from './rows.ts';
import { windowsBetween } from './time-windows.ts';

/** Time limit of a whole histogram. */
export const COUNT_TIMEOUT_MS = 2_000;

export interface ArchivedRunCount {
  interval: number;
  group: RunGroup;
  count: number;
}

export interface ArchivedCounts {
  counts: ArchivedRunCount[];
  /** Runs created before this time are not counted, because the time limit was reached; undefined: all runs are counted. */
  since?: number;
}

type CountRow = { interval: number; status: number; count: number };

const GROUPS = new Map<number, RunGroup>(
  RUN_GROUPS.flatMap((group) => (group === 'active' ? [] : [[STATUS_NUMBERS[group], group] as const])),
);

export class ArchivedRunCounts extends Repository<{ numbers: Numbers; scopes: ArchivedScopes }> {
  /** @param before ended runs that were created later are in Redis
   *  @param besides IDs of ended runs to leave out
   *  @throws ServiceError archive_unavailable */
  async count(
    query: RunHistogramQuery,
    before: number,
    besides: readonly string[],
    timeoutMs = COUNT_TIMEOUT_MS,
  ): Promise<ArchivedCounts> {
    const scope = await this.deps.scopes.of(query.env);
    if (!scope) return { counts: [] };
    const until = performance.now() + timeoutMs;
    const end = query.from + query.stepMs * query.intervals;
    const counts: ArchivedRunCount[] = [];
    try {
      counts.push(...(await this.#sleeping(scope, query, end, timeoutMs)));
    } catch (error) {
      if (!isTimeout(error)) throw error;
      return { counts, since: end };
    }
    const conditions = await conditionsOnFunctions(this.deps.numbers, scope, query.functionIds);
    if (!conditions) return { counts };
    if (besides.length > 0) conditions.add('NOT (id IN (SELECT unnest(?::uuid[])))', toUuids(besides));
    const from = Math.ceil(Math.max(query.from, scope.since));
    for (const window of windowsBetween(from, Math.ceil(Math.min(end, before)))) {
      const leftMs = until - performance.now();
      try {
        if (leftMs <= 0) return { counts, since: window.to };
        counts.push(
          ...(await this.#ended(conditions.copy().add('at >= ? AND at < ?', window.from, window.to), query, leftMs)),
        );
      } catch (error) {
        if (!isTimeout(error)) throw error;
        return { counts, since: window.to };
      }
    }
    return { counts };
  }

  async #ended(
    conditions: Conditions,
    { from, stepMs }: RunHistogramQuery,
    timeoutMs: number,
  ): Promise<ArchivedRunCount[]> {
    const interval = intervalOf('at', conditions, from, stepMs);
    const text = `SELECT ${interval} AS interval, status, count(*) AS count FROM runs WHERE ${conditions.sql} GROUP BY 1, 2`;
    const rows = await this.database.queryWithin<CountRow>(timeoutMs, text, conditions.values);
    return rows.map(({ interval, status, count }) => ({ interval, group: GROUPS.get(status) as RunGroup, count }));
  }

  async #sleeping(
    { envId }: Scope,
    { functionIds, from, stepMs }: RunHistogramQuery,
    end: number,
    timeoutMs: number,
  ): Promise<ArchivedRunCount[]> {
    const conditions = new Conditions().add('env_id = ? AND queued_at >= ? AND queued_at < ?', envId, from, end);
    if (functionIds) conditions.add('function_id = ANY(?)', functionIds.map(toText));
    const interval = intervalOf('queued_at', conditions, from, stepMs);
    const text = `SELECT ${interval} AS interval, count(*) AS count FROM offloaded_runs
      WHERE ${conditions.sql} AND returned_at IS NULL GROUP BY 1`;
    const rows = await this.database.queryWithin<Omit<CountRow, 'status'>>(timeoutMs, text, conditions.values);
    return rows.map((row) => ({ ...row, group: 'active' as const }));
  }
}

function intervalOf(column: string, conditions: Conditions, from: number, stepMs: number): string {
  return `(${column} - ${conditions.value(from)}::bigint) / ${conditions.value(stepMs)}::bigint`;
}
