/** Reconciles runs: re-enqueues each missing job of a run, even if a dead job has the same ID, and restores its waits. A live job is
 *  not enqueued again, and a superfluous job finds nothing to do, so reconciling a healthy run costs little and changes nothing. */

import { LRUCache } from 'lru-cache';
import { duty } from '../../../duties/duty.ts';
import { isArchiveUnavailable } from '../../../errors.ts';
import type { History } from '../../../history/history.ts';
import type { Logger } from '../../../log.ts';
import type { TriggerTable } from '../../../model/events/triggers.ts';
import { awaitedBy } from '../../../model/runs/memo.ts';
import { hasEnded, invokedRunId, type Run } from '../../../model/runs/run.ts';
import { atMost } from '../../../model/values/cache-size.ts';
import { chunksOf } from '../../../model/values/chunks.ts';
import type { Clock } from '../../../model/values/clock.ts';
import { HOUR_MS } from '../../../model/values/time.ts';
import { isStoreFailure } from '../../../store/redis/connection/connection.ts';
import type { ActiveRun, NextReconciliation } from '../../../store/runs/active-runs.ts';
import type { Store } from '../../../store/store.ts';
import { toRunRef } from '../../queues/queues.ts';
import { type TimeoutTimers, timeoutsOf } from '../ends/timeout-timers.ts';
import type { RunTransitions } from '../state-transitions.ts';
import { type RestoreWaitsDeps, restoreWaits } from '../steps/restored-waits.ts';
import { ensureCalls, type MissingCallsDeps, retriesOf } from './missing-calls.ts';
import { type WakeToSchedule, wakeJobLeadMs } from './run-jobs.ts';

/** A small number, because other commands wait until the scripts of these runs have ended. */
const RUNS_AT_ONCE = 100;
const CONCURRENT = 10;
const ROUND_MS = 10_000;
/** Pause before the next round if more runs are due. */
const AGAIN_MS = 20;
/** A run whose reconciliation fails is due again after 2, 4, 8, … times the usual interval. */
const MAX_DOUBLINGS = 8;

/** A paused run needs its event to be kept, and its other steps to end. */
const PAUSED_MS = HOUR_MS;
const FAILURES_MAX = 10_000;

const STEPS_GONE = { name: 'StepsGone', message: 'the run whose steps this re-run needs is no longer stored' };

export interface ReconcileDeps extends RestoreWaitsDeps, MissingCallsDeps, Pick<Store, 'ids' | 'activeRuns' | 'steps'> {
  /** Includes archived runs. */
  history: Pick<History, 'runs'>;
  timeoutTimers: TimeoutTimers;
  transitions: RunTransitions;
  reconcileAfterMs: number;
  clock: Clock;
  /** Dev mode: wake-ups up to this time get their jobs (dev-clock/clock-moves.ts). */
  devClock: { readonly horizonMs: number | undefined } | undefined;
  log: Logger;
}

export const reconciliation = duty<ReconcileDeps>({
  name: 'reconciliation',
  about: 'Enqueues missing jobs of idle runs, and wake-ups that are due soon; packs runs that sleep',
  scope: 'partition',
  everyMs: {
    of: ({ reconcileAfterMs }) => Math.min(reconcileAfterMs, ROUND_MS),
    inWords: '10 s, or 4 × `STALLED_AFTER_SECONDS`',
  },
  rounds(deps) {
    const failures = new LRUCache<string, number>(atMost(FAILURES_MAX));
    return async ({ partition }) => {
      const nowMs = deps.clock();
      const due = await deps.activeRuns.dueForReconciliation(partition, horizonOf(deps, nowMs), RUNS_AT_ONCE);
      const busy = await scheduleSleeping(due, deps, nowMs);
      await reconcile(busy, deps, nowMs, failures);
      if (busy.length > 0) deps.log.info({ runs: busy.length, partition }, 'reconciled idle runs');
      return due.length === RUNS_AT_ONCE ? AGAIN_MS : undefined;
    };
  },
});

/** Number of consecutive failed reconciliations, by run ID. */
type FailureCounts = Pick<LRUCache<string, number>, 'get' | 'set' | 'delete'>;

/** Schedules the next reconciliation of runs that do nothing but sleep, and enqueues their wake-ups that are due soon.
 *  @param due runs of one partition
 *  @returns the runs to reconcile */
async function scheduleSleeping(due: readonly ActiveRun[], deps: ReconcileDeps, nowMs: number): Promise<ActiveRun[]> {
  const { activeRuns, scheduler } = deps;
  const sleeping = await onlyWithSteps(due, deps);
  const found = await activeRuns.schedule(sleeping, { ...nextOf(deps, nowMs), isReconciled: false });
  const waking: ActiveRun[] = [];
  const wakes: WakeToSchedule[] = [];
  for (const [i, scheduled] of found.entries()) {
    if (scheduled.outcome !== 'needsWakes') continue;
    const run = sleeping[i] as ActiveRun;
    waking.push(run);
    const ref = { ...run, ...scheduled.run };
    const next =
      scheduled.finishedSteps === undefined
        ? undefined
        : { finishedSteps: scheduled.finishedSteps, retries: await retriesOf(ref, deps) };
    for (const wake of scheduled.wakes) wakes.push({ ref, ...wake, nowMs, next });
  }
  await scheduler.enqueueWakes(wakes);
  await activeRuns.schedule(waking, { ...nextOf(deps, nowMs), isReconciled: true });
  const scheduled = new Set(
    sleeping.filter((_, i) => found[i]?.outcome !== 'needsReconciliation' && found[i]?.outcome !== 'failed'),
  );
  return due.filter((run) => !scheduled.has(run));
}

/** Runs that can only miss step jobs: their function has no timeout, which needs timers, and no cancel trigger, which needs waits. */
async function onlyWithSteps(due: readonly ActiveRun[], { runs, functions }: ReconcileDeps): Promise<ActiveRun[]> {
  const ids = await runs.functionIds(due);
  const tables = new Map<string, TriggerTable>();
  for (const { env } of due) if (!tables.has(env)) tables.set(env, await functions.recent(env));
  return due.filter(({ env }, i) => {
    const fn = tables.get(env)?.find(ids[i] ?? '');
    return fn === undefined || (timeoutsOf(fn) === undefined && fn.cancel.length === 0);
  });
}

function nextOf(deps: ReconcileDeps, nowMs: number): Omit<NextReconciliation, 'isReconciled'> {
  const { reconcileAfterMs } = deps;
  return { nowMs: horizonOf(deps, nowMs), wakeJobLeadMs: wakeJobLeadMs(reconcileAfterMs), afterMs: reconcileAfterMs };
}

/** The time by which a wake-up counts as due. In dev mode it may be ahead of `nowMs`, so that jobs exist before the
 *  clock moves. */
function horizonOf({ devClock }: ReconcileDeps, nowMs: number): number {
  return devClock?.horizonMs ?? nowMs;
}

/** A run whose reconciliation fails does not stop the others.
 *  @throws Redis's error when it rejects commands */
async function reconcile(
  due: readonly ActiveRun[],
  deps: ReconcileDeps,
  nowMs: number,
  failures: FailureCounts,
): Promise<void> {
  for (const some of chunksOf(due, CONCURRENT)) {
    await Promise.all(some.map((run) => reconcileOrPostpone(run, deps, nowMs, failures)));
  }
}

async function reconcileOrPostpone(
  { env, runId }: ActiveRun,
  deps: ReconcileDeps,
  nowMs: number,
  failures: FailureCounts,
): Promise<void> {
  try {
    await reconcileOne(env, runId, deps, nowMs);
    failures.delete(runId);
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    const times = (failures.get(runId) ?? 0) + 1;
    failures.set(runId, times);
    const { name, message, stack } = error as Error;
    deps.log.error({ run_id: runId, env, times, err: `${name}: ${message}`, stack }, 'a run could not be reconciled');
    const afterMs = deps.reconcileAfterMs * 2 ** Math.min(times, MAX_DOUBLINGS);
    const next = { ...nextOf(deps, nowMs), afterMs, isReconciled: true };
    const [scheduled] = await deps.activeRuns.schedule([{ env, runId }], next);
    if (scheduled?.outcome === 'failed') await deps.activeRuns.postpone(env, runId, nowMs + afterMs);
  }
}

async function reconcileOne(env: string, runId: string, deps: ReconcileDeps, nowMs: number): Promise<void> {
  const run = await deps.runs.readToChange(env, runId);
  if (run && !hasEnded(run)) await ensureJobs(run, deps, nowMs);
  else await deps.activeRuns.remove(env, runId);
}

async function ensureJobs(run: Run, deps: ReconcileDeps, nowMs: number): Promise<void> {
  const { env, id, eventId } = run;
  const { events, steps, scheduler, activeRuns, reconcileAfterMs } = deps;
  const ref = toRunRef(run);
  const progress = await steps.progress(env, id);
  const { pending, done } = progress;
  const next = pending.size === 1 ? { finishedSteps: done + 1, retries: await retriesOf(ref, deps) } : undefined;
  // Wake-ups come first, so that nothing else delays them.
  for (const [stepId, step] of pending) {
    if (step.until === undefined) continue;
    const { until: untilMs } = step;
    const horizonMs = horizonOf(deps, nowMs);
    const wake = { ref, stepId, untilMs, nowMs, horizonMs, eventName: awaitedBy(step) };
    await scheduler.ensureWake({ ...wake, next: step.op === 'Sleep' ? next : undefined });
  }
  await Promise.all((run.batch ?? [eventId]).map((eventId) => events.extendRetention(env, eventId)));
  if (run.fromStep && run.startedAt === undefined && (await deps.history.runs.copySteps(run, nowMs)) === undefined) {
    return deps.transitions.fail(run, { error: STEPS_GONE });
  }
  await (run.pause ? deps.transitions.repeatPause(run) : ensureCalls(run, progress, deps));
  for (const [stepId, step] of pending) {
    if (step.op === 'InvokeFunction') await finishInvocation(run, stepId, deps);
  }
  await restoreWaits(run, pending, deps, nowMs);
  const deadline = await ensureTimeout(run, deps, nowMs);
  const latestMs = deadline && Math.max(nowMs, deadline.at) + reconcileAfterMs;
  const afterMs = run.pause ? Math.max(PAUSED_MS, reconcileAfterMs) : reconcileAfterMs;
  const following = { ...nextOf(deps, nowMs), afterMs, latestMs, isReconciled: true };
  const [scheduled] = await activeRuns.schedule([{ env, runId: id }], following);
  if (scheduled?.outcome === 'failed') throw scheduled.error;
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
    if (isArchiveUnavailable(error)) return undefined;
    throw error;
  });
  if (invoked && hasEnded(invoked)) await transitions.notifyInvoker(invoked);
}
