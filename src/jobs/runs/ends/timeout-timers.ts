/** Timers of runs whose function has timeouts. A run has one timer for its start, set when it is created, and one for its end, set when
 *  it starts: a waiting run does not set timers repeatedly. The reconciler sets missing timers; they are removed when the run ends. */
import { hash } from 'node:crypto';
import type { AppFunction } from '../../../model/apps/app.ts';
import type { EventRecord } from '../../../model/events/event.ts';
import { flowOptionsOf } from '../../../model/flow-control/function-options.ts';
import type { CancelReason } from '../../../model/runs/cancel-reason.ts';
import { hasEnded, type Run } from '../../../model/runs/run.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { Events } from '../../../store/events/events.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import type { PartitionQueues } from '../../queues/partition-queues.ts';
import type { ChangedTimeoutsTimer, TimeoutTimer } from '../../queues/queues.ts';

/** Delay of the job that adapts timers to changed timeouts: `noteChange` comes before the change is stored, and workers may see it a second
 *  late. */
const CHANGE_MS = 3_000;

/** The time at which a run is cancelled, unless it has started or ended by then. */
export interface Deadline {
  /** Unix milliseconds. */
  at: number;
  cause: Extract<CancelReason['cause'], 'start_timeout' | 'finish_timeout'>;
}

/** The fields that a deadline depends on. */
type TimedRun = Pick<Run, 'env' | 'id' | 'functionId' | 'eventId' | 'queuedAt' | 'dueAt' | 'startedAt' | 'retryOf'>;

interface QueuedRun {
  id: string;
  fn: AppFunction;
  event: { env: string };
  dueAt: number;
}

export class TimeoutTimers extends Composed<{
  queues: PartitionQueues;
  functions: FunctionTables;
  events: Pick<Events, 'records'>;
}> {
  /** Sets timers of runs that are being created. Their start timeout counts from the time at which they are due. */
  async watchQueued(runs: readonly QueuedRun[], nowMs: number): Promise<void> {
    const timers = runs.flatMap(({ id, fn, event, dueAt }) => {
      const startMs = timeoutsOf(fn)?.startMs;
      if (startMs === undefined) return [];
      const deadline: Deadline = { at: Math.max(dueAt, nowMs) + startMs, cause: 'start_timeout' };
      return [{ run: { env: event.env, id, functionId: fn.id }, deadline }];
    });
    if (timers.length > 0) await this.#set(timers, nowMs);
  }

  /** Sets the timer of a run that is about to have its first call. */
  async watchStarted(run: TimedRun, fn: AppFunction | undefined, nowMs: number): Promise<void> {
    const finishMs = timeoutsOf(fn)?.finishMs;
    if (finishMs === undefined || run.startedAt === undefined) return;
    await this.#set([{ run, deadline: { at: run.startedAt + finishMs, cause: 'finish_timeout' } }], nowMs);
  }

  /** Sets the timers that active runs need now, and removes others. Reads the functions' current state.
   *  @returns their deadlines, in the order of the runs */
  async ensure(env: string, runs: readonly TimedRun[], nowMs: number): Promise<(Deadline | undefined)[]> {
    const deadlines = await this.deadlinesOf(env, runs);
    await Promise.all(runs.map(({ id }) => this.#remove(id)));
    const timers = runs.flatMap((run, i) => (deadlines[i] ? [{ run, deadline: deadlines[i] }] : []));
    await this.#set(timers, nowMs);
    return deadlines;
  }

  /** Deadlines of runs of one environment, by the current configuration of their functions. */
  async deadlinesOf(env: string, runs: readonly TimedRun[]): Promise<(Deadline | undefined)[]> {
    const table = await this.deps.functions.of(env);
    const timeouts = runs.map(({ functionId }) => timeoutsOf(table.find(functionId)));
    // Runs of earlier versions do not say when they are due: a re-run when it is created, others at the time of their event.
    const isUnknown = ({ dueAt, startedAt, retryOf }: TimedRun) => !dueAt && !startedAt && !retryOf;
    const onEvents = runs.filter((run, i) => timeouts[i]?.startMs !== undefined && isUnknown(run));
    const events = await this.#eventsOf(env, onEvents);
    return runs.map((run, i) => deadlineOf(run, timeouts[i], events.get(run.eventId)));
  }

  /** Removes the timers of an ended run. A timer that remains does nothing. */
  async remove(run: Pick<Run, 'env' | 'id' | 'functionId'>): Promise<void> {
    if (await this.mayHave(run)) await this.#remove(run.id);
  }

  /** Whether the run may have a timer. */
  async mayHave({ env, functionId }: Pick<Run, 'env' | 'functionId'>): Promise<boolean> {
    return timeoutsOf(await this.deps.functions.find(env, functionId)) !== undefined;
  }

  /** Call before the timeouts of these functions change: their active runs get other timers a moment later. */
  async noteChange(env: string, functionIds: readonly string[], nowMs: number): Promise<void> {
    await Promise.all(
      this.deps.queues.all().map(({ timers }, partition) =>
        timers.addBulk(
          functionIds.map((functionId) => ({
            name: functionId,
            data: { kind: 'changed-timeouts', env, functionId, partition } satisfies ChangedTimeoutsTimer,
            opts: { jobId: `timeouts-${hash('sha1', `${env}/${functionId}`)}-${nowMs}`, delay: CHANGE_MS },
          })),
        ),
      ),
    );
  }

  async #eventsOf(env: string, runs: readonly TimedRun[]): Promise<Map<string, EventRecord>> {
    if (runs.length === 0) return new Map();
    const found = await this.deps.events.records(env, [...new Set(runs.map(({ eventId }) => eventId))]);
    return new Map(found.flatMap((event) => (event ? [[event.internal_id, event] as const] : [])));
  }

  async #set(
    timers: readonly { run: Pick<Run, 'env' | 'id' | 'functionId'>; deadline: Deadline }[],
    nowMs: number,
  ): Promise<void> {
    const byQueue = Map.groupBy(timers, ({ run }) => this.deps.queues.of(run.id).timers);
    await Promise.all(
      [...byQueue].map(([queue, some]) =>
        queue.addBulk(
          some.map(({ run: { env, id, functionId }, deadline: { at, cause } }) => ({
            name: functionId,
            data: { kind: 'timeout', env, functionId, runId: id } satisfies TimeoutTimer,
            opts: { jobId: timerId(id, cause), delay: Math.max(0, at - nowMs), timestamp: nowMs },
          })),
        ),
      ),
    );
  }

  async #remove(runId: string): Promise<void> {
    const queue = this.deps.queues.of(runId).timers;
    const ids = [timerId(runId, 'start_timeout'), timerId(runId, 'finish_timeout')];
    await Promise.all(ids.map((id) => queue.remove(id, { removeChildren: false })));
  }
}

type Timeouts = { startMs?: number; finishMs?: number };

export function timeoutsOf(fn: AppFunction | undefined): Timeouts | undefined {
  return fn && flowOptionsOf(fn)?.timeouts;
}

function deadlineOf(
  run: TimedRun & { status?: Run['status'] },
  { startMs, finishMs }: Timeouts = {},
  event: EventRecord | undefined,
): Deadline | undefined {
  if (run.status && hasEnded({ status: run.status })) return undefined;
  if (run.startedAt !== undefined) {
    return finishMs === undefined ? undefined : { at: run.startedAt + finishMs, cause: 'finish_timeout' };
  }
  if (startMs === undefined) return undefined;
  return { at: (run.dueAt ?? Math.max(run.queuedAt, event?.ts ?? 0)) + startMs, cause: 'start_timeout' };
}

function timerId(runId: string, cause: Deadline['cause']): string {
  return `${runId}-${cause === 'start_timeout' ? 'start' : 'finish'}`;
}
