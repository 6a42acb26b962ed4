/** Explains why a run does not start, and how much of its limits a function uses. */

import type { AppFunction } from '../../model/apps/app.ts';
import { homesOf, type Limit, limitsOf } from '../../model/flow-control/limits.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import { sum } from '../../model/values/sum.ts';
import type { EnvironmentKinds } from '../../store/environments/environment-kinds.ts';
import type { BacklogUse, LimitUsage, LimitUse } from '../../store/flow-control/limit-usage.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import { type CallRef, entryOf } from '../queues/call-ref.ts';

const BACKLOGS_SHOWN = 10;

export interface LimitStatus {
  limit: Limit;
  use: LimitUse;
  /** Whether the call waits for this limit. */
  holdsBack: boolean;
}

export interface WaitingCall {
  /** The time at which the call began to wait, minus its priority, Unix milliseconds. */
  since: number;
  /** Number of calls before it with the same limits. */
  ahead: number;
  limits: LimitStatus[];
  /** Earliest start, Unix milliseconds; undefined if it depends on the end of other calls. */
  earliestStart?: number;
}

export interface BacklogStatus {
  /** Key values by expression. */
  keys: Record<string, string>;
  waiting: number;
  since: number;
  limits: { id: string; kind: Limit['kind']; limit: number; use: LimitUse; holdsBack: boolean }[];
}

export interface FunctionLimitUse {
  waiting: number;
  /** Usage of limits without a key. */
  limits: LimitStatus[];
  longest: BacklogStatus[];
}

export class LimitStatuses extends Composed<{
  limitUsage: LimitUsage;
  functions: FunctionTables;
  environmentKinds: Pick<EnvironmentKinds, 'of'>;
  capacity: () => number;
}> {
  /** @param calls the next calls of the run
   *  @returns undefined if none of the calls waits for a limit */
  async waiting(run: Run, calls: readonly CallRef[]): Promise<WaitingCall | undefined> {
    const { limitUsage: usage, functions, capacity } = this.deps;
    const { env, functionId, keys, startedAt } = run;
    const fn = hasEnded(run) ? undefined : await functions.find(env, functionId);
    if (!fn) return undefined;
    const found = limitsOf({
      env,
      isBranch: await this.#isBranch(env),
      fn,
      keys,
      isStart: startedAt === undefined,
      queuedAt: run.queuedAt,
      capacity: capacity(),
    });
    if (!found) return undefined;
    const { limits, backlog, home } = found;
    const position = await usage.positionOf(home, backlog, calls.map(entryOf));
    if (!position) return undefined;
    const uses = await usage.usesOf(
      home,
      env,
      limits.map(({ id }) => id),
    );
    const statuses = limits.map((limit, i) => {
      return { limit, use: uses[i] as LimitUse, holdsBack: limit.id === position.blockedBy };
    });
    const earliestStart = earliestStartOf(statuses, position.ahead);
    return {
      since: position.since,
      ahead: position.ahead,
      limits: statuses,
      ...(earliestStart !== undefined && { earliestStart }),
    };
  }

  async ofFunction(env: string, fn: AppFunction): Promise<FunctionLimitUse> {
    const { limitUsage: usage, capacity } = this.deps;
    const all = await Promise.all(
      usage.inDifferentPartitions(homesOf(env, fn.id)).map((home) => this.#backlogs(home, env, fn.id)),
    );
    const isBranch = await this.#isBranch(env);
    const own = limitsOf({ env, isBranch, fn, keys: undefined, isStart: true, capacity: capacity() });
    const limits = own?.limits ?? [];
    const uses = own
      ? await usage.usesOf(
          own.home,
          env,
          limits.map(({ id }) => id),
        )
      : [];
    return {
      waiting: sum(all, ({ waiting }) => waiting),
      limits: limits.map((limit, i) => ({ limit, use: uses[i] as LimitUse, holdsBack: false })),
      longest: all
        .flatMap(({ longest }) => longest)
        .sort((a, b) => b.waiting - a.waiting)
        .slice(0, BACKLOGS_SHOWN),
    };
  }

  async #isBranch(env: string): Promise<boolean> {
    return (await this.deps.environmentKinds.of(env)) === 'branch';
  }

  async #backlogs(
    home: string,
    env: string,
    functionId: string,
  ): Promise<{ waiting: number; longest: BacklogStatus[] }> {
    const { limitUsage: usage } = this.deps;
    const { waiting, longest } = await usage.backlogsOf(home, env, functionId, BACKLOGS_SHOWN);
    return { waiting, longest: await Promise.all(longest.map((backlog) => this.#backlogStatus(home, backlog))) };
  }

  async #backlogStatus(home: string, { waiting, since, blockedBy, info }: BacklogUse): Promise<BacklogStatus> {
    const { env, keys } = info;
    const uses = await this.deps.limitUsage.usesOf(
      home,
      env,
      info.limits.map(({ id }) => id),
    );
    const limits = info.limits.map(({ id, kind, limit }, i) => {
      return { id, kind, limit, use: uses[i] as LimitUse, holdsBack: id === blockedBy };
    });
    return { keys, waiting, since, limits };
  }
}

/** With a throttle, the earlier calls start first, one per interval. */
function earliestStartOf(statuses: readonly LimitStatus[], ahead: number): number | undefined {
  const times = statuses.flatMap(({ limit: { intervalMs, toleranceMs }, use: { tat } }) =>
    intervalMs === undefined || toleranceMs === undefined || tat === undefined
      ? []
      : [tat - toleranceMs + ahead * intervalMs],
  );
  return times.length === 0 ? undefined : Math.ceil(Math.max(...times));
}
