/** Timers of timeouts: a run may have reached one, or the timeouts of a function have changed. */

import type { Clock } from '../../model/values/clock.ts';
import type { Position } from '../../store/redis/pagination.ts';
import type { Store } from '../../store/store.ts';
import type { ChangedTimeoutsTimer, TimeoutTimer } from '../queues/queues.ts';
import type { TimeoutTimers } from '../runs/ends/timeout-timers.ts';
import { cancelIfOver } from '../runs/ends/timeouts.ts';
import type { RunTransitions } from '../runs/state-transitions.ts';

export interface TimeoutTimerDeps extends Pick<Store, 'runs' | 'runLists'> {
  timeoutTimers: TimeoutTimers;
  transitions: RunTransitions;
  clock: Clock;
}

/** Few, because their events are read, each of which may have half a megabyte. */
const RUNS_AT_ONCE = 20;

/** @param dueAt the process that set the timer may have a clock ahead of this one's */
export async function handleTimeout(
  { env, runId }: TimeoutTimer,
  dueAt: number,
  deps: TimeoutTimerDeps,
): Promise<void> {
  await cancelIfOver(env, runId, Math.max(dueAt, deps.clock()), deps);
}

/** Resets the timers of all active runs of a function in one partition. */
export async function handleChangedTimeouts(
  { env, functionId, partition }: ChangedTimeoutsTimer,
  { runLists, timeoutTimers, clock }: TimeoutTimerDeps,
): Promise<void> {
  const reset = async (read: (cursor: Position | undefined) => Promise<{ found: Position[]; ids: string[] }>) => {
    let cursor: Position | undefined;
    do {
      const { found, ids } = await read(cursor);
      const active = await runLists.listed.read(env, ids);
      if (active.length > 0) await timeoutTimers.ensure(env, active, clock());
      cursor = found.length === RUNS_AT_ONCE ? found.at(-1) : undefined;
    } while (cursor);
  };
  await reset(async (cursor) => {
    const found = await runLists.activeIn(partition, env, functionId, cursor, RUNS_AT_ONCE);
    return { found, ids: found.map(({ id }) => id) };
  });
  // This comes last, because Postgres may be down.
  await reset((cursor) => runLists.offloadedIn(partition, env, functionId, cursor, RUNS_AT_ONCE));
}
