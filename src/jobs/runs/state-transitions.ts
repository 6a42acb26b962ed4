/** State transitions of a run: a step finishes, or the run pauses, completes, fails or is cancelled. Any process may apply them. Each is
 *  idempotent, and the first write wins. */
import { onExhaustedOf } from '../../model/apps/app.ts';
import type { EventRecord } from '../../model/events/event.ts';
import type { CancelReason } from '../../model/runs/cancel-reason.ts';
import type { RunResult } from '../../model/runs/endpoint-response.ts';
import { invocationResult } from '../../model/runs/invocation-result.ts';
import {
  MAX_STATE_BYTES,
  MAX_STEPS,
  type Memo,
  type Pending,
  requestsOutside,
  type StateLimit,
} from '../../model/runs/memo.ts';
import type { PauseReason } from '../../model/runs/pause.ts';
import type { Ending, Run } from '../../model/runs/run.ts';
import { type RunError, withoutSource } from '../../model/runs/run-error.ts';
import { failedOutput, type RunFailure } from '../../model/runs/run-failure.ts';
import { Composed } from '../../model/values/composed.ts';
import { isStoreFailure } from '../../store/redis/connection/connection.ts';
import type { WaitingJob } from '../../store/redis/job-lists.ts';
import type { ResultContext, StepWait } from '../../store/runs/steps.ts';
import type { Store } from '../../store/store.ts';
import { type CallToSchedule, callOf } from '../queues/call-ref.ts';
import { waitHistory } from './attempt-history.ts';
import { type RunEnd, RunEnds, type RunEndsDeps } from './ends/run-ends.ts';

/** The failure of a run whose steps are too many, or together too large. */
export const STATE_ERRORS: Record<StateLimit, RunError> = {
  steps: {
    name: 'TooManySteps',
    message: `the run has more than ${MAX_STEPS} steps; split the function, and invoke its parts`,
  },
  bytes: {
    name: 'StateTooLarge',
    message: `the outputs of the run's steps are larger than ${MAX_STATE_BYTES} bytes together; store large data elsewhere`,
  },
};

export type RunTransitionsDeps = RunEndsDeps & Pick<Store, 'steps' | 'requests' | 'pausedRuns'>;

export class RunTransitions extends Composed<RunTransitionsDeps> {
  readonly #ends = new RunEnds(this.deps, (run) => this.notifyInvoker(run));

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
        await this.deps.queuedRunJobs.removeWakes(runId, [stepId]);
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
    if (step.op !== 'Sleep' && step.until !== undefined) await this.deps.queuedRunJobs.removeWakes(id, [stepId]);
  }

  /** @param finishedSteps number of finished steps, whose results the call carries */
  async scheduleNextCall(run: Run, finishedSteps: number): Promise<void> {
    await this.deps.scheduler.enqueueCall(await this.#nextCall(run, finishedSteps));
  }

  /** @returns the job of the next call, if the call waits for nothing but a worker */
  async nextJob(run: Run, finishedSteps: number): Promise<WaitingJob | undefined> {
    return this.deps.scheduler.waitingCall(await this.#nextCall(run, finishedSteps));
  }

  async #nextCall(run: Run, finishedSteps: number): Promise<CallToSchedule> {
    const fn = await this.deps.functions.find(run.env, run.functionId);
    return callOf(run, { finishedSteps }, fn);
  }

  /** @param by the event that triggered the run, if available; the job of its call, if that has nothing else to do; and what the call adds to
   *  history and steps
   *  @returns the limit that its steps exceed, so that it has not ended */
  async complete(
    run: Run,
    result: RunResult,
    by: Pick<RunEnd, 'event' | 'job' | 'history' | 'steps'> = {},
  ): Promise<StateLimit | undefined> {
    return this.#ends.commit('complete', { run, ending: { status: 'Completed', ...result }, ...by });
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
    await this.#ends.commit('fail', { run, ending, failure, event });
  }

  /** Fails a run whose call has no attempt left, or pauses it if its function says so. */
  async exhaust(run: Run, error: RunError): Promise<void> {
    const fn = await this.deps.functions.find(run.env, run.functionId);
    await (onExhaustedOf(fn) === 'pause' ? this.pause(run, 'exhausted', error) : this.fail(run, { error }));
  }

  /** Pauses an active run: its finished steps stay, steps in progress end, and no call starts until the run is resumed (paused-runs.ts).
   *  The first pause is kept. The pause counts in the error group as a failure. */
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
    if (run) await this.#ends.commit('cancel', { run, ending: { status: 'Cancelled', reason } });
    return this.deps.runs.read(env, runId);
  }

  /** Completes the end of a run whose process died before finishing it. */
  async finishEnd(run: Run): Promise<void> {
    await this.#ends.commit('finishEnd', { run, leftOver: await this.deps.unfinishedEnds.leftOver(run.env, run.id) });
  }

  /** Repeats the work after the end of a run, in case the process that ended it died. */
  async repeatEnd(run: Run): Promise<void> {
    await this.#ends.commit('repeatEnd', { run });
  }

  /** Finishes the invoking step with the run's result. */
  async notifyInvoker(run: Run): Promise<void> {
    if (!run.invoker) return;
    const { runId, stepId } = run.invoker;
    await this.finishStep(run.env, runId, stepId, invocationResult(run), { links: { runId: run.id } });
  }
}
