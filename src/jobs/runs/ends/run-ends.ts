/** Executes the writes of the end of a run (end-writes.ts). Each can be repeated. */

import type { EventRecord } from '../../../model/events/event.ts';
import { FUNCTION_FAILED, FUNCTION_FINISHED } from '../../../model/events/lifecycle.ts';
import { flowOptionsOf } from '../../../model/flow-control/function-options.ts';
import type { StateLimit } from '../../../model/runs/memo.ts';
import { type Ending, hasEnded, type Run } from '../../../model/runs/run.ts';
import type { RunError } from '../../../model/runs/run-error.ts';
import type { RunFailure } from '../../../model/runs/run-failure.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { StartedRuns } from '../../../store/bulk/started-runs.ts';
import { isStoreFailure } from '../../../store/redis/connection/connection.ts';
import type { JobEnd } from '../../../store/redis/job-lists.ts';
import type { EndOptions, LeftOver, StepsAtEnd } from '../../../store/runs/run-end.ts';
import type { Store } from '../../../store/store.ts';
import type { LaneEnds } from '../../flow-control/lane-ends.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import { stepCallsOf } from '../../queues/call-ref.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { QueuedRunJobs } from '../scheduling/queued-run-jobs.ts';
import type { RunScheduler } from '../scheduling/run-scheduler.ts';
import type { DeferredFunctions } from './deferred-functions.ts';
import { type EndTransition, type EndWrite, WRITES_OF_END } from './end-writes.ts';
import type { FailureCounter } from './failure-counter.ts';
import type { LifecycleEvents } from './lifecycle-events.ts';
import type { TimeoutTimers } from './timeout-timers.ts';

export interface RunEndsDeps extends Pick<Store, 'runs' | 'singletonHolders' | 'unfinishedEnds'> {
  functions: FunctionTables;
  scheduler: RunScheduler;
  queuedRunJobs: Pick<QueuedRunJobs, 'removeWakes' | 'removeCalls'>;
  timeoutTimers: TimeoutTimers;
  deferredFunctions: DeferredFunctions;
  lifecycleEvents: LifecycleEvents;
  /** Counts the ends of runs that replays started. */
  replayedRuns: Pick<StartedRuns, 'recordEnd'>;
  failures: FailureCounter;
  /** Lets the next event of the run's lane run. */
  laneEnds: Pick<LaneEnds, 'follow'>;
  telemetry: Telemetry;
}

/** The end of a run while it is written. */
export interface RunEnd extends Pick<EndOptions, 'history' | 'steps'> {
  /** The run as it is stored. */
  run: Run;
  /** How the run ends now; undefined: it had ended before. */
  ending?: Ending;
  failure?: RunFailure;
  /** The event that triggered the run, if available. */
  event?: EventRecord | undefined;
  /** undefined: the run had ended before. */
  leftOver?: LeftOver | StepsAtEnd | undefined;
  /** The job of the call that ends the run. */
  job?: JobEnd | undefined;
  /** The job has ended with the run, because nothing else is left to do. */
  isDone?: true;
  /** The limit that its steps exceed: the run has not ended. */
  exceeded?: StateLimit;
}

export class RunEnds extends Composed<RunEndsDeps> {
  readonly #notifyInvoker: (run: Run) => Promise<void>;

  /** @param notifyInvoker finishes the invoking step with the run's result */
  constructor(deps: RunEndsDeps, notifyInvoker: (run: Run) => Promise<void>) {
    super(deps);
    this.#notifyInvoker = notifyInvoker;
  }

  /** @returns the limit that the run's steps exceed, so that it has not ended */
  async commit(transition: EndTransition, end: RunEnd): Promise<StateLimit | undefined> {
    for (const write of WRITES_OF_END[transition]) {
      await this.#writes[write](end);
      if (end.isDone || end.exceeded) break;
    }
    return end.exceeded;
  }

  readonly #writes: Record<EndWrite, (end: RunEnd) => Promise<unknown>> = {
    failedEvent: (end) => this.#sendFailureEvent(end),
    cancelledEvent: async ({ run }) => hasEnded(run) || this.deps.lifecycleEvents.cancelled(run),
    end: (end) => this.#storeEnd(end),
    // Lets the next run of its function start.
    singleton: async ({ run: { env, id, keys } }) =>
      keys?.singleton && this.deps.singletonHolders.release({ env, digest: keys.singleton, runId: id }),
    lane: ({ run }) => this.deps.laneEnds.follow(run),
    failureCount: ({ run }) => this.deps.failures.count(run),
    replayCount: async ({ run: { env, id, replayId, status } }) =>
      replayId !== undefined && this.deps.replayedRuns.recordEnd({ env, id: replayId }, id, status),
    invoker: ({ run }) => this.#notifyInvoker(run),
    // A job that stays finds an ended run, and does nothing.
    jobs: async ({ run, leftOver }) => leftOver && this.#removeJobs(run, leftOver),
    completedEvent: async ({ run, event, leftOver }) => {
      const awaited = leftOver && 'awaited' in leftOver ? leftOver.awaited : undefined;
      if (run.status === 'Completed') await this.deps.lifecycleEvents.completed(run, event, awaited);
    },
  };

  /** If the failure event cannot be sent, the run's error says so, because the run fails anyway. */
  async #sendFailureEvent({ run, failure, ending, event }: RunEnd): Promise<void> {
    if (!failure || ending?.status !== 'Failed') return;
    try {
      await this.deps.lifecycleEvents.failed(run, failure, event);
    } catch (sendError) {
      if (isStoreFailure(sendError)) throw sendError;
      const message = `${ending.error.message} (${FUNCTION_FAILED} was not sent: ${(sendError as Error).message})`;
      ending.error = { ...ending.error, message };
    }
  }

  async #storeEnd(end: RunEnd): Promise<void> {
    const { run, ending, history, steps } = end;
    if (!ending) return;
    const { runs, telemetry, timeoutTimers, deferredFunctions } = this.deps;
    // A completed run has no later call than the call that completed it.
    const hasJobs = ending.status !== 'Completed' || (await timeoutTimers.mayHave(run));
    let endedAt = Date.now();
    const job = end.job && !hasJobs && !(await this.#mayFollow(run)) ? end.job : undefined;
    let leftOver = await runs.end(run, ending, endedAt, { hasJobs, history, steps, ...(job && { job: job.begin() }) });
    // The deferred functions' events come first, then the end: if this process dies in between, repeating both changes nothing.
    while (leftOver === 'defers') {
      const startedDefers = await deferredFunctions.start(run);
      endedAt = Date.now();
      leftOver = await runs.end(run, ending, endedAt, { hasJobs, history, steps, startedDefers });
    }
    if (leftOver === 'steps' || leftOver === 'bytes') {
      end.exceeded = leftOver;
      return;
    }
    if (leftOver) telemetry.recordRunEnd({ ...run, endedAt }, ending.status, errorAfter(run, ending));
    end.leftOver = leftOver;
    if (leftOver?.finished) {
      job?.record(leftOver.finished);
      if (leftOver.isUnfinished) await this.#finishWithoutJob({ ...run, ...ending }, end.event);
      end.isDone = true;
      return;
    }
    // Only the first ending may reach the invoker.
    const former = leftOver ? undefined : await runs.read(run.env, run.id);
    end.run = former ?? { ...run, ...ending };
  }

  /** Sends the event about the end if a run in another partition waits for it. The job has ended: if this fails, another process does it, and says what
   *  was wrong (unfinished-ends.ts). */
  async #finishWithoutJob(run: Run, event: EventRecord | undefined): Promise<void> {
    const { lifecycleEvents, unfinishedEnds } = this.deps;
    try {
      await lifecycleEvents.completed(run, event);
      await unfinishedEnds.finishWithoutSteps(run.env, run.id);
    } catch {}
  }

  /** Whether anything may follow the end of a completed run. Call before the end is stored. */
  async #mayFollow({ env, functionId, keys, replayId, invoker }: Run): Promise<boolean> {
    if (keys || invoker || replayId !== undefined) return true;
    const table = await this.deps.functions.recent(env);
    const fn = table.find(functionId);
    return !fn || flowOptionsOf(fn) !== undefined || table.isTrigger(FUNCTION_FINISHED);
  }

  /** Removes the jobs of an ended run: delayed ones would wait, possibly for months, only to find that it has ended. */
  async #removeJobs(run: Run, { done, pending, isUnfinished }: StepsAtEnd): Promise<void> {
    const { scheduler, queuedRunJobs, timeoutTimers, unfinishedEnds } = this.deps;
    const { env, id: runId, status } = run;
    const calls = stepCallsOf(runId, pending);
    const wakes = [...pending].filter(([, { until }]) => until !== undefined).map(([stepId]) => stepId);
    if (wakes.length > 0) await queuedRunJobs.removeWakes(runId, wakes);
    const waiting = status === 'Completed' ? calls : [...calls, { runId, finishedSteps: done }];
    const sleeps = [...pending.values()].some(({ op }) => op === 'Sleep');
    await queuedRunJobs.removeCalls(sleeps ? [...waiting, { runId, finishedSteps: done + 1 }] : waiting);
    await scheduler.endRun(run, waiting);
    await timeoutTimers.remove(run);
    if (isUnfinished) await unfinishedEnds.finish(env, runId);
  }
}

/** A cancelled run keeps the error of its last attempt. */
function errorAfter({ error = null }: { error?: RunError | null }, ending: Ending): RunError | null {
  if (ending.status === 'Failed') return ending.error;
  return ending.status === 'Cancelled' ? error : null;
}
