/** Manual retries: `rerun` starts a new run of the same function on the same event as a finished run; `retryNow` makes a delayed attempt
 *  due immediately; `resume` continues a paused run, and `giveUp` fails it. */

import { ServiceError } from '../../../errors.ts';
import type { History } from '../../../history/history.ts';
import type { AppFunction } from '../../../model/apps/app.ts';
import { earlierRunsOf, type HistoryEntry, hasEnded, type Run } from '../../../model/runs/run.ts';
import type { FromStep } from '../../../model/runs/step-input.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { Store } from '../../../store/store.ts';
import type { EventRestorer } from '../../archive/event-restorer.ts';
import { stepCallsOf } from '../../queues/call-ref.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { RunStarter } from '../run-starter.ts';
import { ensureCalls, type MissingCallsDeps } from '../scheduling/missing-calls.ts';
import type { QueuedRunJobs } from '../scheduling/queued-run-jobs.ts';
import type { RunTransitions } from '../state-transitions.ts';
import { checkFromStep } from './rerun-from-step.ts';

/** The finished and pending steps of a run. */
type Progress = Awaited<ReturnType<Store['steps']['progress']>>;

/** A resumed run is reconciled after this time, in case the job of its last call was just ending, or this process dies. */
const RESUMED_MS = 1_000;

export interface RunRetriesDeps extends MissingCallsDeps, Pick<Store, 'ids' | 'events' | 'apps' | 'pausedRuns'> {
  history: Pick<History, 'runs' | 'runParts' | 'steps'>;
  /** Restores an archived event, because a re-run reads its event from Redis. */
  eventRestorer: EventRestorer;
  starter: RunStarter;
  queuedRunJobs: Pick<QueuedRunJobs, 'delayedCalls' | 'promote'>;
  steps: Pick<Store['steps'], 'progress'>;
  transitions: Pick<RunTransitions, 'fail' | 'repeatPause'>;
  telemetry: Pick<Telemetry, 'publishRun'>;
}

export class RunRetries extends Composed<RunRetriesDeps> {
  /** Returns the active re-run if there is one: a re-run's ID is derived from the number of earlier re-runs of the function on the
   *  event. Each step and input of a run has re-runs of its own.
   *  @returns the new run; undefined if there is no such run
   *  @throws ServiceError run_active, function_archived, event_gone, input_invalid, archive_unavailable */
  async rerun(env: string, runId: string, nowMs: number, fromStep?: FromStep): Promise<Run | undefined> {
    const { runs } = this.deps.history;
    const run = await runs.read(env, runId);
    if (!run) return undefined;
    requireEnded(run);
    const { id, active } = await this.nextRerun(run, fromStep);
    if (active) return active;
    await this.#start(run, id, nowMs, fromStep);
    return runs.read(env, id);
  }

  /** Re-runs a run for a bulk action, under an ID that `nextRerun` returned. Idempotent.
   *  @returns the re-run, which another bulk action may have started first (`bulkActionId`); undefined if there is no such run
   *  @throws ServiceError run_active, function_archived, event_gone, archive_unavailable */
  async startRerun(
    env: string,
    runId: string,
    id: string,
    nowMs: number,
    { bulkActionId, fromStep }: { bulkActionId: string; fromStep?: FromStep | undefined },
  ): Promise<Run | undefined> {
    const { runs } = this.deps.history;
    const started = await runs.read(env, id);
    if (started) return started;
    const run = await runs.read(env, runId);
    if (!run) return undefined;
    requireEnded(run);
    await this.#start(run, id, nowMs, fromStep, bulkActionId);
    return runs.read(env, id);
  }

  /** @throws ServiceError archive_unavailable */
  historyOf({ env, id }: Run): Promise<HistoryEntry[]> {
    return this.deps.history.runParts.read(env, id, 'history');
  }

  /** The time at which the next delayed call of the run is due, Unix milliseconds: a retry after a failure, or the first call of a run on a
   *  future event. undefined if no call is delayed. */
  async nextAttemptAt(run: Run, progress: Progress): Promise<number | undefined> {
    const due = [...(await this.#delayedCalls(run, progress)).values()];
    return due.length === 0 ? undefined : Math.min(...due);
  }

  /** Whether `retryNow` has anything to do. */
  async isWaiting(run: Run): Promise<boolean> {
    if (hasEnded(run)) return false;
    return (await this.#delayedCalls(run, await this.deps.history.steps.progress(run.env, run.id))).size > 0;
  }

  /** Makes all delayed calls of the run due now. The number of attempts is unchanged.
   *  @returns the run; undefined if there is no such run
   *  @throws ServiceError run_not_waiting */
  async retryNow(env: string, runId: string): Promise<Run | undefined> {
    const { history, queuedRunJobs } = this.deps;
    const { runs, steps } = history;
    const run = await runs.read(env, runId);
    if (!run) return undefined;
    const delayed = await this.#delayedCalls(run, await steps.progress(env, runId));
    const promoted = await Promise.all([...delayed.keys()].map((jobId) => queuedRunJobs.promote(jobId)));
    if (!promoted.includes(true)) throw new ServiceError('run_not_waiting', { detail: `it is ${run.status}` });
    return runs.read(env, runId);
  }

  /** Continues a paused run where it stopped, with all its attempts again: the failed step, or the function itself, is called again.
   *  @returns the run; undefined if there is no such run
   *  @throws ServiceError run_not_paused */
  async resume(env: string, runId: string, nowMs: number): Promise<Run | undefined> {
    const { runs, steps, pausedRuns, transitions, telemetry } = this.deps;
    const run = await runs.read(env, runId);
    if (!run) return undefined;
    await transitions.repeatPause(run);
    // The first of several requests ends the pause, and enqueues the calls.
    if (!(await pausedRuns.remove(run, nowMs + RESUMED_MS))) throw notPaused(run);
    await ensureCalls(run, await steps.progress(env, runId), this.deps);
    telemetry.publishRun(run, 'Running');
    return runs.read(env, runId);
  }

  /** Fails a paused run with the error of its pause.
   *  @returns the run; undefined if there is no such run
   *  @throws ServiceError run_not_paused */
  async giveUp(env: string, runId: string): Promise<Run | undefined> {
    const { runs, transitions } = this.deps;
    const run = await runs.read(env, runId);
    if (!run) return undefined;
    if (!run.pause || !run.error) throw notPaused(run);
    await transitions.fail(run, { error: run.error });
    return runs.read(env, runId);
  }

  async #delayedCalls(run: Run, { pending, done }: Progress): Promise<Map<string, number>> {
    if (hasEnded(run)) return new Map();
    return this.deps.queuedRunJobs.delayedCalls([
      { runId: run.id, finishedSteps: done },
      ...stepCallsOf(run.id, pending),
    ]);
  }

  /** Counts the stored re-runs, hot or archived. None is missing, because re-runs outlive their event. All runs of a function on an event
   *  share the next re-run, so two concurrent requests start one.
   *  @returns the ID of the next re-run; `active`: the re-run that has this ID and must end first */
  async nextRerun(
    { env, id: runId, eventId, functionId }: Run,
    fromStep?: FromStep,
  ): Promise<{ id: string; active?: Run }> {
    const [sourceId, ...parts] = fromStep
      ? [runId, 'from', fromStep.id, JSON.stringify(fromStep.input ?? null)]
      : [eventId, 'rerun', functionId];
    for (let count = 0; ; count++) {
      const id = this.deps.ids.derived(sourceId, ...parts, String(count));
      const rerun = await this.deps.history.runs.read(env, id);
      if (!rerun) return { id };
      if (!hasEnded(rerun)) return { id, active: rerun };
    }
  }

  async #start(
    run: Run,
    id: string,
    nowMs: number,
    fromStep: FromStep | undefined,
    bulkActionId?: string,
  ): Promise<void> {
    const { events, functions, eventRestorer, starter } = this.deps;
    const { env, id: retryOf, functionId, eventId, batch } = run;
    const fn = (await functions.of(env)).find(functionId);
    if (!fn || fn.archived) throw new ServiceError('function_archived', { detail: `"${functionId}" has no live app` });
    if (fromStep) await this.#checkFromStep(run, fn, fromStep);
    await eventRestorer.ensure(env, batch ?? [eventId]);
    const [record] = (await events.records(env, batch ?? [eventId])).filter((event) => event !== undefined);
    if (!record) throw new ServiceError('event_gone', { detail: `"${eventId}" was kept no longer than the retention` });
    // The cancel triggers wait from now on: the event that cancelled the first run is older, and does not cancel the re-run.
    const event = { env, internalId: eventId, requestId: record.request_id, receivedAt: nowMs };
    // Copied steps belong to the code that planned them.
    const pin = fromStep && run.pin && (await functions.ofRun(run)) ? run.pin : undefined;
    const options = {
      ...(pin && { pin }),
      ...(batch && { batch }),
      // The re-run does not wait for its turn in the lane, but its success unblocks a lane that its event blocks.
      ...(run.keys?.lane && { keys: { values: {}, lane: { id: run.keys.lane.id, order: run.keys.lane.order } } }),
      ...(fromStep && { fromStep, earlierRuns: earlierRunsOf(run) }),
      ...(bulkActionId !== undefined && { bulkActionId }),
    };
    await starter.start([{ id, fn, event, dueAt: nowMs, retryOf, ...options }], nowMs);
  }

  async #checkFromStep({ env, id }: Run, fn: AppFunction, fromStep: FromStep): Promise<void> {
    const { history: stored, apps } = this.deps;
    const [history, memo, app] = await Promise.all([
      stored.runParts.read(env, id, 'history'),
      stored.steps.memo(env, id, fromStep.id),
      apps.read(env, fn.app),
    ]);
    checkFromStep(fromStep, { history, isFinished: memo !== undefined }, fn, app?.sdk);
  }
}

/** @throws ServiceError run_active */
function requireEnded(run: Run): void {
  if (!hasEnded(run)) throw new ServiceError('run_active', { detail: `it is ${run.status}; cancel it first` });
}

function notPaused({ status }: Run): ServiceError {
  return new ServiceError('run_not_paused', { detail: `it is ${status}` });
}
