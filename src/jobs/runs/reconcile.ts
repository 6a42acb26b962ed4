/** Looks after runs that were not heard of for a while: whatever job they should have is enqueued, also where a job that has ended without
 *  ending its run has the same ID. One that waits or is at work is not enqueued again, and one that was done already finds nothing to do,
 *  so looking after a run that is well costs little and changes nothing. */
import type { LRUCache } from 'lru-cache';
import type { Logger } from '../../log.ts';
import { derivedId } from '../../model/ids.ts';
import type { Pending } from '../../model/runs/memo.ts';
import { DEFAULT_RETRIES } from '../../model/runs/retry.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import type { Events } from '../../store/events/events.ts';
import { isStoreFailure } from '../../store/redis/connection.ts';
import type { ActiveRuns } from '../../store/runs/active-runs.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { Steps } from '../../store/runs/steps.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';
import { refOf } from '../queues/queues.ts';
import type { RunScheduler } from './run-scheduler.ts';
import type { RunTransitions } from './state-transitions.ts';

const RUNS_AT_ONCE = 1_000;
/** A run that cannot be looked after is tried again after 2, 4, 8, … times the usual time. */
const MAX_DOUBLINGS = 8;

export interface ReconcileDeps {
  activeRuns: ActiveRuns;
  events: Events;
  runs: Runs;
  steps: Steps;
  functions: FunctionTables;
  schedule: RunScheduler;
  life: RunTransitions;
  lookAfterMs: number;
}

/** How often in a row each run could not be looked after. */
export type Troubles = Pick<LRUCache<string, number>, 'get' | 'set' | 'delete'>;

/** One run that cannot be looked after keeps nobody from the others.
 *  @returns how many runs were looked after
 *  @throws what Redis says when it refuses */
export async function reconcile(deps: ReconcileDeps, nowMs: number, troubles: Troubles, log: Logger): Promise<number> {
  const due = await deps.activeRuns.dueForReconciliation(nowMs, RUNS_AT_ONCE);
  for (const { env, runId } of due) {
    try {
      await lookAt(env, runId, deps, nowMs);
      troubles.delete(runId);
    } catch (error) {
      if (isStoreFailure(error)) throw error;
      const times = (troubles.get(runId) ?? 0) + 1;
      troubles.set(runId, times);
      const { name, message, stack } = error as Error;
      log.error({ run_id: runId, env, times, err: `${name}: ${message}`, stack }, 'a run could not be looked after');
      await deps.activeRuns.postpone(env, runId, nowMs + deps.lookAfterMs * 2 ** Math.min(times, MAX_DOUBLINGS));
    }
  }
  return due.length;
}

async function lookAt(env: string, runId: string, deps: ReconcileDeps, nowMs: number): Promise<void> {
  const run = await deps.runs.read(env, runId);
  if (run && !hasEnded(run)) await lookAfter(run, deps, nowMs);
  else await deps.activeRuns.remove(env, runId);
}

async function lookAfter(run: Run, deps: ReconcileDeps, nowMs: number): Promise<void> {
  const { env, id, eventId, functionId } = run;
  const ref = refOf(run);
  const retries = (await deps.functions.find(env, functionId))?.retries ?? DEFAULT_RETRIES;
  await deps.events.extendRetention(env, eventId);
  const { pending, done } = await deps.steps.progress(env, id);
  const answeredAt = await deps.runs.answeredAt(env, id);
  if (answeredAt < done) await deps.schedule.restoreCall({ ref, at: done, retries });
  for (const [stepId, step] of pending) {
    if (step.op === 'StepPlanned') await deps.schedule.restoreCall({ ref, stepId, retries });
    if (step.op === 'InvokeFunction') await askInvoked(run, stepId, deps);
    if (step.until !== undefined) {
      const eventName = step.op === 'WaitForEvent' ? step.name : undefined;
      await deps.schedule.restoreWake(ref, stepId, step.until, nowMs, eventName);
    }
  }
  await deps.activeRuns.postpone(env, id, nextLook([...pending.values()], nowMs) + deps.lookAfterMs);
}

/** The invoked run may have ended without its word having come here. */
async function askInvoked(run: Run, stepId: string, { runs, life }: ReconcileDeps): Promise<void> {
  const invoked = await runs.read(run.env, derivedId(run.id, 'invoke', stepId));
  if (invoked && hasEnded(invoked)) await life.tellInvoker(invoked);
}

/** A run that only sleeps is left alone until it wakes. */
function nextLook(pending: Pending[], nowMs: number): number {
  const asleep = pending.length > 0 && pending.every(({ op }) => op === 'Sleep' || op === 'WaitForEvent');
  return asleep ? Math.max(nowMs, Math.min(...pending.map(({ until }) => until ?? nowMs))) : nowMs;
}
