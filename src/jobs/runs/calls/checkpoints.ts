/** Checkpoints of calls: an app stores finished steps while its call is in flight, and continues in the same call. */
import { notFound, ServiceError } from '../../../errors.ts';
import type { QueueItem } from '../../../functions/call-ids.ts';
import { isSideEffect, type Op, stepName } from '../../../model/runs/operation.ts';
import type { RunError } from '../../../model/runs/run.ts';
import { Composed } from '../../../model/values/composed.ts';
import { DAY_MS } from '../../../model/values/time.ts';
import type { Store } from '../../../store/store.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { stepHistory } from '../attempt-history.ts';
import { abortDefer, addDefer } from '../operations/defer.ts';
import { entriesOf, finishedStepsOf, hasRun, isFinished } from '../operations/finished-steps.ts';
import { storeMetadata } from '../operations/metadata.ts';
import type { QueuedRunJobs } from '../scheduling/queued-run-jobs.ts';
import { type RunTransitions, STATE_ERRORS } from '../state-transitions.ts';

export interface CallCheckpointsDeps extends Pick<Store, 'runs' | 'runMetadata' | 'checkpoints' | 'defers'> {
  queuedRunJobs: Pick<QueuedRunJobs, 'callJobKey'>;
  transitions: RunTransitions;
  telemetry: Telemetry;
  reconcileAfterMs: number;
}

export class CallCheckpoints extends Composed<CallCheckpointsDeps> {
  /** Stores the steps of the call that owns the queue item. If an operation ends the call, only the steps that ran are stored. Idempotent.
   *  @throws ServiceError input_invalid, not_found, run_ended, call_superseded */
  async store(runId: string, item: QueueItem, ops: readonly Op[]): Promise<void> {
    const refusal = refusalOf(ops);
    const kept = refusal ? ops.filter(hasRun) : ops;
    if (!refusal || kept.length > 0) await this.#store(runId, item, kept);
    if (refusal) throw refusal;
  }

  async #store(runId: string, { env, finishedSteps, executions }: QueueItem, ops: readonly Op[]): Promise<void> {
    const { checkpoints, queuedRunJobs, telemetry, reconcileAfterMs } = this.deps;
    if (finishedSteps === undefined) throw superseded(runId, 'a call of one planned step has no checkpoints');
    const nowMs = Date.now();
    // Earlier times come from an app with a wrong clock.
    const during = { startedAt: nowMs - DAY_MS, endedAt: nowMs };
    const { steps, tooLarge } = finishedStepsOf(ops.filter(isStored), (op) => stepHistory(op, 0, during, nowMs));
    const job = { key: queuedRunJobs.callJobKey({ runId, finishedSteps }), executions };
    const owner = { name: String(finishedSteps), job, reconcileAt: nowMs + reconcileAfterMs };
    await storeMetadata(ops, { env, id: runId }, this.deps.runMetadata);
    const stored = await checkpoints.store(env, runId, steps, owner);
    switch (stored.outcome) {
      case 'stored':
        break;
      case 'steps':
      case 'bytes':
        return this.#fail(env, runId, STATE_ERRORS[stored.outcome]);
      case 'stale':
        throw superseded(runId, 'another call continues the run: this one was repeated, or its attempt has failed');
      case 'ended':
        throw ended(runId);
      case 'gone':
        throw notFound('run', runId);
    }
    telemetry.recordHistory(stored.run, entriesOf(steps));
    telemetry.publishRun(stored.run, 'Running');
    if (tooLarge) return this.#fail(env, runId, tooLarge.error);
    const call = { loaded: { run: stored.run } };
    for (const op of ops.filter(isSideEffect)) {
      const failure = await (op.op === 'DeferAdd' ? addDefer : abortDefer)(op, call, this.deps);
      if (failure) return this.#fail(env, runId, failure.error);
    }
  }

  /** @throws ServiceError run_ended, so that the app stops */
  async #fail(env: string, runId: string, error: RunError): Promise<never> {
    const run = await this.deps.runs.readToChange(env, runId);
    if (run) await this.deps.transitions.fail(run, { error });
    throw ended(runId, `${error.name}: ${error.message}`);
  }
}

/** Whether it is a step to store. `StepPlanned` only reports that a step has begun. */
function isStored(op: Op): boolean {
  return isFinished(op, { mayRetry: true });
}

/** The error for an operation that ends a call. */
function refusalOf(ops: readonly Op[]): ServiceError | undefined {
  const other = ops.find((op) => !isStored(op) && !isSideEffect(op) && op.op !== 'StepPlanned');
  if (!other) return undefined;
  return new ServiceError('input_invalid', {
    detail: `step "${stepName(other)}" has the operation ${other.op}, which belongs into the response to the call`,
  });
}

export function superseded(runId: string, why: string): ServiceError {
  return new ServiceError('call_superseded', { detail: `run "${runId}": ${why}` });
}

export function ended(runId: string, why = 'its steps are no longer stored'): ServiceError {
  return new ServiceError('run_ended', { detail: `"${runId}": ${why}` });
}
