/** Reconciles idle runs: re-enqueues each missing job of a run, even if a dead job has the same ID, and restores its waits. A live job is
 *  not enqueued again, and a superfluous job finds nothing to do, so reconciling a healthy run costs little and changes nothing. */

import { LRUCache } from 'lru-cache';
import { isUnavailable } from '../../archive/database.ts';
import { duty } from '../../duties/duty.ts';
import type { History } from '../../history/history.ts';
import type { Logger } from '../../log.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { awaitedBy, type Pending } from '../../model/runs/memo.ts';
import { DEFAULT_RETRIES } from '../../model/runs/retry.ts';
import { hasEnded, invokedRunId, type Run } from '../../model/runs/run.ts';
import { isStoreFailure } from '../../store/redis/connection.ts';
import type { ActiveRuns } from '../../store/runs/active-runs.ts';
import { type Checkpoints, ENDPOINT } from '../../store/runs/checkpoints.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { Steps } from '../../store/runs/steps.ts';
import { toRunRef } from '../queues/queues.ts';
import { type RestoreWaitsDeps, restoreWaits } from './restored-waits.ts';
import type { RunScheduler } from './run-scheduler.ts';
import type { RunTransitions } from './state-transitions.ts';
import { type TimeoutTimers, timeoutsOf } from './timeout-timers.ts';

const RUNS_AT_ONCE = 1_000;
/** A run whose reconciliation fails is due again after 2, 4, 8, … times the usual time. */
const MAX_DOUBLINGS = 8;

const STEPS_GONE = { name: 'StepsGone', message: 'the run whose steps this re-run needs is no longer stored' };

export interface ReconcileDeps extends RestoreWaitsDeps {
  ids: PartitionedIds;
  activeRuns: ActiveRuns;
  runs: Runs;
  /** Includes archived runs. */
  history: Pick<History, 'runs'>;
  steps: Steps;
  checkpoints: Checkpoints;
  scheduler: RunScheduler;
  timeoutTimers: TimeoutTimers;
  transitions: RunTransitions;
  reconcileAfterMs: number;
  log: Logger;
}

const FAILURES_MAX = 10_000;

export const reconciliation = duty<ReconcileDeps>({
  name: 'reconciliation',
  about: 'Enqueues the jobs of idle runs that are missing',
  scope: 'partition',
  everyMs: { of: ({ reconcileAfterMs }) => reconcileAfterMs, inWords: '4 × `STALLED_AFTER_SECONDS`' },
  rounds(deps) {
    const failures = new LRUCache<string, number>({ max: FAILURES_MAX });
    return async ({ partition }) => {
      const count = await reconcile(partition, deps, Date.now(), failures);
      if (count > 0) deps.log.info({ runs: count, partition }, 'reconciled idle runs');
    };
  },
});

/** Number of consecutive failed reconciliations, by run ID. */
type FailureCounts = Pick<LRUCache<string, number>, 'get' | 'set' | 'delete'>;

/** A run whose reconciliation fails does not stop the others.
 *  @returns number of due runs
 *  @throws Redis's error when it rejects commands */
async function reconcile(
  partition: number,
  deps: ReconcileDeps,
  nowMs: number,
  failures: FailureCounts,
): Promise<number> {
  const { activeRuns, reconcileAfterMs, log } = deps;
  const due = await activeRuns.dueForReconciliation(partition, nowMs, RUNS_AT_ONCE);
  for (const { env, runId } of due) {
    try {
      await reconcileOne(env, runId, deps, nowMs);
      failures.delete(runId);
    } catch (error) {
      if (isStoreFailure(error)) throw error;
      const times = (failures.get(runId) ?? 0) + 1;
      failures.set(runId, times);
      const { name, message, stack } = error as Error;
      log.error({ run_id: runId, env, times, err: `${name}: ${message}`, stack }, 'a run could not be reconciled');
      await activeRuns.postpone(env, runId, nowMs + reconcileAfterMs * 2 ** Math.min(times, MAX_DOUBLINGS));
    }
  }
  return due.length;
}

async function reconcileOne(env: string, runId: string, deps: ReconcileDeps, nowMs: number): Promise<void> {
  const run = await deps.runs.read(env, runId);
  if (run && !hasEnded(run)) await ensureJobs(run, deps, nowMs);
  else await deps.activeRuns.remove(env, runId);
}

async function ensureJobs(run: Run, deps: ReconcileDeps, nowMs: number): Promise<void> {
  const { env, id, eventId, functionId } = run;
  const { events, runs, steps, checkpoints, functions, scheduler, activeRuns, reconcileAfterMs } = deps;
  const ref = toRunRef(run);
  const retries = (await functions.find(env, functionId))?.retries ?? DEFAULT_RETRIES;
  await Promise.all((run.batch ?? [eventId]).map((eventId) => events.extendRetention(env, eventId)));
  if (run.fromStep && run.startedAt === undefined && (await deps.history.runs.copySteps(run, nowMs)) === undefined) {
    return deps.transitions.fail(run, { error: STEPS_GONE });
  }
  const { pending, done } = await steps.progress(env, id);
  const { answeredAt, racedAt, owner } = await runs.position(env, id, done);
  // The request of an endpoint seems dead, so the service calls the endpoint.
  if (owner === ENDPOINT) await checkpoints.handOver(env, id, owner);
  // While steps are pending, the last one that ends schedules the call (store-memo.lua). A call that has stored steps continues with them.
  const isDue = pending.size === 0 || racedAt > answeredAt || owner !== undefined;
  const at = owner === undefined || owner === ENDPOINT ? done : Number(owner);
  if (answeredAt < done && isDue) await scheduler.ensureCall({ ref, at, retries });
  for (const [stepId, step] of pending) {
    if (step.op === 'StepPlanned') await scheduler.ensureCall({ ref, stepId, retries });
    if (step.origin !== undefined) await scheduler.ensureRequest({ ref, stepId, origin: step.origin, retries });
    if (step.op === 'InvokeFunction') await finishInvocation(run, stepId, deps);
    if (step.until !== undefined) {
      await scheduler.ensureWake({ ref, stepId, untilMs: step.until, nowMs, eventName: awaitedBy(step) });
    }
  }
  await restoreWaits(run, pending, deps, nowMs);
  const deadline = await ensureTimeout(run, deps, nowMs);
  const untilMs = Math.min(idleUntil([...pending.values()], nowMs), Math.max(nowMs, deadline?.at ?? Infinity));
  await activeRuns.postpone(env, id, untilMs + reconcileAfterMs);
}

async function ensureTimeout(run: Run, { functions, timeoutTimers }: ReconcileDeps, nowMs: number) {
  if (!timeoutsOf(await functions.find(run.env, run.functionId))) return undefined;
  const [deadline] = await timeoutTimers.ensure(run.env, [run], nowMs);
  return deadline;
}

/** The invoked run may have ended without notifying its invoker. */
async function finishInvocation(run: Run, stepId: string, { ids, history, transitions }: ReconcileDeps): Promise<void> {
  const invoked = await history.runs.read(run.env, invokedRunId(ids, run.id, stepId)).catch((error) => {
    // The rest of the run is reconciled without the archive, and this part the next time.
    if (isUnavailable(error)) return undefined;
    throw error;
  });
  if (invoked && hasEnded(invoked)) await transitions.notifyInvoker(invoked);
}

/** Runs that only sleep or wait are idle until their first timeout. */
function idleUntil(pending: Pending[], nowMs: number): number {
  const isAsleep = pending.length > 0 && pending.every((step) => step.op === 'Sleep' || awaitedBy(step) !== undefined);
  return isAsleep ? Math.max(nowMs, Math.min(...pending.map(({ until }) => until ?? nowMs))) : nowMs;
}
