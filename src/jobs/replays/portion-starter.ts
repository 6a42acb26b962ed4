/** Starts the runs of a portion of a replay. Idempotent: run IDs are derived. */
import type { Logger } from '../../log.ts';
import type { FailureReason } from '../../model/replays/replay.ts';
import { isStoreFailure } from '../../store/redis/connection/connection.ts';
import type { Store } from '../../store/store.ts';
import type { RunToStart } from '../flow-control/run-to-start.ts';
import type { RunStarter } from '../runs/run-starter.ts';
import type { Pair, RunToReplay } from './planner.ts';

export interface PortionStarterDeps {
  events: Pick<Store['events'], 'records'>;
  runs: Pick<Store['runs'], 'readMany'>;
  /** Restores archived events to Redis. */
  restoreEvents: (env: string, eventIds: readonly string[]) => Promise<unknown>;
  starter: Pick<RunStarter, 'start'>;
  log: Logger;
}

export type StartingPair = Pair & { start: RunToReplay };

/** @returns why some runs were not started
 *  @throws ServiceError when Redis or Postgres is down */
export async function startPortion(
  { env, id: replayId }: { env: string; id: string },
  pairs: readonly StartingPair[],
  { events, runs, restoreEvents, starter, log }: PortionStarterDeps,
): Promise<Map<StartingPair, FailureReason>> {
  const failed = new Map<StartingPair, FailureReason>();
  const waiting = pairs.filter(({ start }) => !start.hasEnded);
  if (waiting.length === 0) return failed;
  const ids = [...new Set(waiting.flatMap(({ start: { eventId, batch = [] } }) => [eventId, ...batch]))];
  await restoreEvents(env, ids);
  const records = await events.records(env, ids);
  const present = new Set(ids.filter((_, i) => records[i] !== undefined));
  const ready: StartingPair[] = [];
  for (const pair of waiting) {
    const { eventId, batch = [eventId] } = pair.start;
    if (batch.some((id) => present.has(id))) ready.push(pair);
    else failed.set(pair, 'event_gone');
  }
  const nowMs = Date.now();
  const toStart = (pair: StartingPair) => runOf(pair, env, replayId, nowMs);
  try {
    await starter.start(ready.map(toStart), nowMs);
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    // Runs are started one by one, because a failing run must not keep the others from starting.
    for (const pair of ready) {
      try {
        await starter.start([toStart(pair)], nowMs);
      } catch (cause) {
        if (isStoreFailure(cause)) throw cause;
        const run = pair.start.runId;
        log.warn({ env, replay: replayId, run, err: (cause as Error).message }, 'a run of a replay did not start');
        // An existing run is reconciled.
        if ((await runs.readMany(env, [run])).length === 0) failed.set(pair, 'internal');
      }
    }
  }
  return failed;
}

/** Cancel triggers wait from now on: the event that cancelled the former run is older, and does not cancel the new run. */
function runOf({ start, formerRunId }: StartingPair, env: string, replayId: string, nowMs: number): RunToStart {
  const { runId: id, fn, eventId, requestId, batch } = start;
  return {
    id,
    fn,
    event: { env, internalId: eventId, requestId, receivedAt: nowMs },
    dueAt: nowMs,
    replayId,
    ...(formerRunId !== undefined && { retryOf: formerRunId }),
    ...(batch && { batch }),
  };
}
