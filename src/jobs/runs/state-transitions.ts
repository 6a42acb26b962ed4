/** State transitions of a run: a step finishes, or the run pauses, completes, fails or is cancelled. Any process may apply them. Each is
 *  idempotent, and the first write wins. */
import { onExhaustedOf } from '../../model/apps/app.ts';
import type { EventRecord } from '../../model/events/event.ts';
import { FUNCTION_FAILED, FUNCTION_FINISHED } from '../../model/events/lifecycle.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { CancelReason } from '../../model/runs/cancel-reason.ts';
import type { RunResult } from '../../model/runs/endpoint-response.ts';
import { invocationResult } from '../../model/runs/invocation-result.ts';
import { MAX_STATE_BYTES, MAX_STEPS, type Memo, type Pending, requestsOutside } from '../../model/runs/memo.ts';
import type { PauseReason } from '../../model/runs/pause.ts';
import { type Ending, hasEnded, type Run } from '../../model/runs/run.ts';
import { type RunError, withoutSource } from '../../model/runs/run-error.ts';
import { failedOutput, type RunFailure } from '../../model/runs/run-failure.ts';
import { Composed } from '../../model/values/composed.ts';
import type { StartedRuns } from '../../store/bulk/started-runs.ts';
import { isStoreFailure } from '../../store/redis/connection/connection.ts';
import type { JobEnd, WaitingJob } from '../../store/redis/job-lists.ts';
import type { PausedRuns } from '../../store/runs/paused-runs.ts';
import type { HistoryOfEnd, LeftOver, StepsAtEnd } from '../../store/runs/runs.ts';
import type { ResultContext, StepWait } from '../../store/runs/steps.ts';
import type { Store } from '../../store/store.ts';
import type { LaneEnds } from '../flow-control/lane-ends.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import { type CallToSchedule, callOf, stepCallsOf } from '../queues/call-ref.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { waitHistory } from './attempt-history.ts';
import type { DeferredFunctions } from './ends/deferred-functions.ts';
import { type EndTransition, type EndWrite, WRITES_OF_END } from './ends/end-writes.ts';
import type { FailureCounter } from './ends/failure-counter.ts';
import type { LifecycleEvents } from './ends/lifecycle-events.ts';
import type { TimeoutTimers } from './ends/timeout-timers.ts';
import type { RunScheduler } from './scheduling/run-scheduler.ts';

export interface RunTransitionsDeps
  extends Pick<Store, 'runs' | 'steps' | 'requests' | 'singletonHolders' | 'unfinishedEnds'> {
  pausedRuns: Pick<PausedRuns, 'add'>;
  functions: FunctionTables;
  scheduler: RunScheduler;
  timeoutTimers: TimeoutTimers;
  deferredFunctions: DeferredFunctions;
  lifecycleEvents: LifecycleEvents;
  /** Counts the ends of runs that replays started. */
  replayedRuns: Pick<StartedRuns, 'recordEnd'>;
  failures: FailureCounter;
  /** The next event of the run's lane may then run. */
  laneEnds: Pick<LaneEnds, 'follow'>;
  telemetry: Telemetry;
}

/** The failure of a run whose steps are too many, or together too large. */
export const STATE_ERRORS: Record<'steps' | 'bytes', RunError> = {
  steps: {
    name: 'TooManySteps',
    message: `the run has more than ${MAX_STEPS} steps; split the function, and invoke its parts`,
  },
  bytes: {
    name: 'StateTooLarge',
    message: `the outputs of the run's steps are larger than ${MAX_STATE_BYTES} bytes together; store large data elsewhere`,
  },
};

/** The end of a run while it is written. */
interface RunEnd {
  /** As it is stored. */
  run: Run;
  /** How it ends now; undefined: it has ended. */
  ending?: Ending;
  failure?: RunFailure;
  /** The event that triggered the run, if available. */
  event?: EventRecord | undefined;
  /** Undefined if it had ended before. */
  leftOver?: LeftOver | StepsAtEnd | undefined;
  /** The job of the call that ends it. */
  job?: JobEnd | undefined;
  /** History of that call. */
  history?: HistoryOfEnd | undefined;
  /** The job has ended with it, because it leaves nothing to do. */
  isDone?: true;
}

export class RunTransitions extends Composed<RunTransitionsDeps> {
  /** Stores the result of a step, and schedules the next call of the function unless other steps are pending.
   *  @returns whether the result was stored; an earlier one is kept */
  async finishStep(env: string, runId: string, stepId: string, memo: Memo, context?: ResultContext): Promise<boolean> {
    const entryOf = (step: Pending) => waitHistory(stepId, step, memo, Date.now(), context);
    const result = await this.deps.steps.memoize(env, runId, stepId, memo, entryOf, context);
    switch (result.outcome) {
      case 'stored':
        if (result.wait) await this.#endWait(result.run, stepId, result.wait);
        if (result.callAgain) await this.scheduleNextCall(result.run, result.stackLength);
        // Otherwise watchers would see the change only with the next call, which other steps or a limit may hold back.
        if (result.wait) this.deps.telemetry.publishRun(result.run, 'Running');
        return true;
      case 'there':
        if (result.callAgain) await this.scheduleNextCall(result.run, result.stackLength);
        // The process that stored the result may have died before removing the wake job.
        await this.deps.scheduler.removeWakes(runId, [stepId]);
        return false;
      case 'steps':
      case 'bytes':
        await this.fail(result.run, { error: STATE_ERRORS[result.outcome] });
        return false;
      case 'ended':
      case 'gone':
        return false;
    }
  }

  /** The wake job and the request of a step that has ended are no longer needed. */
  async #endWait(run: Run, stepId: string, { step, entry }: StepWait): Promise<void> {
    const { env, id } = run;
    this.deps.telemetry.recordHistory(run, [entry]);
    if (requestsOutside(step)) await this.deps.requests.remove(env, id, stepId);
    // A sleep is ended only by its own wake job, which is active.
    if (step.op !== 'Sleep' && step.until !== undefined) await this.deps.scheduler.removeWakes(id, [stepId]);
  }

  /** @param finishedSteps number of finished steps, whose results the call carries */
  async scheduleNextCall(run: Run, finishedSteps: number): Promise<void> {
    await this.deps.scheduler.enqueueCall(await this.#nextCall(run, finishedSteps));
  }

  /** @returns the job of the next call, if that waits for nothing but a worker */
  async nextJob(run: Run, finishedSteps: number): Promise<WaitingJob | undefined> {
    return this.deps.scheduler.waitingCall(await this.#nextCall(run, finishedSteps));
  }

  async #nextCall(run: Run, finishedSteps: number): Promise<CallToSchedule> {
    const fn = await this.deps.functions.find(run.env, run.functionId);
    return callOf(run, { finishedSteps }, fn);
  }

  /** @param by the event that triggered the run, if available; the job of its call, if that has nothing else to do; and what the call adds to
   *  the history */
  async complete(run: Run, result: RunResult, by: Pick<RunEnd, 'event' | 'job' | 'history'> = {}): Promise<void> {
    await this.#commit('complete', { run, ending: { status: 'Completed', ...result }, ...by });
  }

  /** @param event the event that triggered the run, if available */
  async fail(run: Run, failure: RunFailure, event?: EventRecord): Promise<void> {
    const { functions, failures } = this.deps;
    const { error } = failure;
    const fn = await functions.find(run.env, run.functionId);
    const output = failedOutput(failure, fn?.dialect);
    const isKnown = output === JSON.stringify(withoutSource(error));
    // A paused run was counted when it paused.
    const mark = run.pause
      ? run.fingerprint !== undefined && { fingerprint: run.fingerprint }
      : await failures.mark(run, error);
    const ending: Ending = { status: 'Failed', error, ...mark, ...(!isKnown && { output }) };
    await this.#commit('fail', { run, ending, failure, event });
  }

  /** Fails a run whose call has no attempt left, or pauses it if its function says so. */
  async exhaust(run: Run, error: RunError): Promise<void> {
    const fn = await this.deps.functions.find(run.env, run.functionId);
    await (onExhaustedOf(fn) === 'pause' ? this.pause(run, 'exhausted', error) : this.fail(run, { error }));
  }

  /** Pauses an active run: its finished steps stay, steps in progress end, and no call starts until the run is resumed (paused-runs.ts). The
   *  first pause is kept. It counts in the error group as a failure. */
  async pause(run: Run, reason: PauseReason, error: RunError): Promise<void> {
    const { runs, pausedRuns, failures, telemetry } = this.deps;
    const { mark, step } = await failures.markWithStep(run, error);
    const pause = { reason, since: Date.now(), ...(step && { step: { id: step.id, name: step.name ?? step.id } }) };
    if (await pausedRuns.add(run, pause, error, mark)) {
      telemetry.publishRun(run, 'Running', error);
      return this.repeatPause({ ...run, pause, error, ...mark });
    }
    const paused = await runs.read(run.env, run.id);
    if (paused) await this.repeatPause(paused);
  }

  /** Repeats the work after a pause, in case the process that paused the run died. Counting removes the mark of the pause, so it comes last. */
  async repeatPause(run: Run): Promise<void> {
    const { pause, error, uncounted } = run;
    if (!pause || !error || uncounted === undefined) return;
    try {
      await this.deps.lifecycleEvents.paused({ ...run, pause, error });
    } catch (sendError) {
      // An event that cannot be sent is not tried again.
      if (!isStoreFailure(sendError)) await this.deps.failures.count(run);
      throw sendError;
    }
    await this.deps.failures.count(run);
  }

  /** Ended runs are not changed.
   *  @returns the run; undefined if there is none */
  async cancel(env: string, runId: string, reason: CancelReason): Promise<Run | undefined> {
    const run = await this.deps.runs.readToChange(env, runId);
    if (run) await this.#commit('cancel', { run, ending: { status: 'Cancelled', reason } });
    return this.deps.runs.read(env, runId);
  }

  /** Completes the end of a run whose process died before finishing it. */
  async finishEnd(run: Run): Promise<void> {
    await this.#commit('finishEnd', { run, leftOver: await this.deps.unfinishedEnds.leftOver(run.env, run.id) });
  }

  /** Repeats the work after the end of a run, in case the process that ended it died. */
  async repeatEnd(run: Run): Promise<void> {
    await this.#commit('repeatEnd', { run });
  }

  /** Finishes the invoking step with the run's result. */
  async notifyInvoker(run: Run): Promise<void> {
    if (!run.invoker) return;
    const { runId, stepId } = run.invoker;
    await this.finishStep(run.env, runId, stepId, invocationResult(run), { links: { runId: run.id } });
  }

  async #commit(transition: EndTransition, end: RunEnd): Promise<RunEnd> {
    for (const write of WRITES_OF_END[transition]) {
      await this.#endWrites[write](end);
      if (end.isDone) break;
    }
    return end;
  }

  readonly #endWrites: Record<EndWrite, (end: RunEnd) => Promise<unknown>> = {
    failedEvent: (end) => this.#sendFailureEvent(end),
    cancelledEvent: async ({ run }) => hasEnded(run) || this.deps.lifecycleEvents.cancelled(run),
    end: (end) => this.#storeEnd(end),
    // The next run of its function may then start.
    singleton: async ({ run: { env, id, keys } }) =>
      keys?.singleton && this.deps.singletonHolders.release({ env, digest: keys.singleton, runId: id }),
    lane: ({ run }) => this.deps.laneEnds.follow(run),
    failureCount: ({ run }) => this.deps.failures.count(run),
    replayCount: async ({ run: { env, id, replayId, status } }) =>
      replayId !== undefined && this.deps.replayedRuns.recordEnd({ env, id: replayId }, id, status),
    invoker: ({ run }) => this.notifyInvoker(run),
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
    const { run, ending, history } = end;
    if (!ending) return;
    const { runs, telemetry, timeoutTimers, deferredFunctions } = this.deps;
    // A completed run has no later call than the call that completed it.
    const hasJobs = ending.status !== 'Completed' || (await timeoutTimers.mayHave(run));
    let endedAt = Date.now();
    const job = end.job && !hasJobs && !(await this.#mayFollow(run)) ? end.job : undefined;
    let leftOver = await runs.end(run, ending, endedAt, { hasJobs, history, ...(job && { job: job.begin() }) });
    // The deferred functions' events come first, then the end: if this process dies in between, repeating both changes nothing.
    while (leftOver === 'defers') {
      const startedDefers = await deferredFunctions.start(run);
      endedAt = Date.now();
      leftOver = await runs.end(run, ending, endedAt, { hasJobs, history, startedDefers });
    }
    if (leftOver) telemetry.recordRunEnd({ ...run, endedAt }, ending.status, errorAfter(run, ending));
    end.leftOver = leftOver;
    if (leftOver?.finished) {
      job?.record(leftOver.finished);
      end.isDone = true;
      return;
    }
    // Only the first ending may reach the invoker.
    const former = leftOver ? undefined : await runs.read(run.env, run.id);
    end.run = former ?? { ...run, ...ending };
  }

  /** Whether anything may follow the end of a completed run. Decided before the end is stored. */
  async #mayFollow({ env, functionId, keys, replayId, invoker }: Run): Promise<boolean> {
    if (keys || invoker || replayId !== undefined) return true;
    const table = await this.deps.functions.recent(env);
    const fn = table.find(functionId);
    return !fn || flowOptionsOf(fn) !== undefined || table.isTrigger(FUNCTION_FINISHED);
  }

  /** Delayed jobs would wait, possibly for months, only to find an ended run. */
  async #removeJobs(run: Run, { done, pending, isUnfinished }: StepsAtEnd): Promise<void> {
    const { scheduler, timeoutTimers, unfinishedEnds } = this.deps;
    const { env, id: runId, status } = run;
    const calls = stepCallsOf(runId, pending);
    const wakes = [...pending].filter(([, { until }]) => until !== undefined).map(([stepId]) => stepId);
    if (wakes.length > 0) await scheduler.removeWakes(runId, wakes);
    const waiting = status === 'Completed' ? calls : [...calls, { runId, finishedSteps: done }];
    const sleeps = [...pending.values()].some(({ op }) => op === 'Sleep');
    await scheduler.removeCalls(sleeps ? [...waiting, { runId, finishedSteps: done + 1 }] : waiting);
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
