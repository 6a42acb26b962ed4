/** Looks after runs that were not heard of for a while: whatever job they should have is enqueued. One that is there is not enqueued
 *  again, and one that was done already finds nothing to do, so looking after a run that is well costs little and changes nothing. */

import { derivedId } from '../model/ids.ts';
import type { Pending } from '../model/memo.ts';
import { DEFAULT_RETRIES } from '../model/retry.ts';
import { hasEnded, type Run } from '../model/run.ts';
import type { ActiveRuns } from '../store/active-runs.ts';
import type { Events } from '../store/events.ts';
import type { Runs } from '../store/runs.ts';
import type { Steps } from '../store/steps.ts';
import type { FunctionTables } from './function-tables.ts';
import { refOf } from './queues.ts';
import type { RunLife } from './run-life.ts';
import type { RunSchedule } from './run-schedule.ts';

const RUNS_AT_ONCE = 1_000;

export interface ReconcileDeps {
  activeRuns: ActiveRuns;
  events: Events;
  runs: Runs;
  steps: Steps;
  functions: FunctionTables;
  schedule: RunSchedule;
  life: RunLife;
  lookAfterMs: number;
}

/** @returns how many runs were looked after */
export async function reconcile(deps: ReconcileDeps, nowMs: number): Promise<number> {
  const due = await deps.activeRuns.due(nowMs, RUNS_AT_ONCE);
  for (const { env, runId } of due) {
    const run = await deps.runs.read(env, runId);
    if (run && !hasEnded(run)) await lookAfter(run, deps, nowMs);
    else await deps.activeRuns.forget(env, runId);
  }
  return due.length;
}

async function lookAfter(run: Run, deps: ReconcileDeps, nowMs: number): Promise<void> {
  const { env, id, eventId, functionId } = run;
  const ref = refOf(run);
  const retries = (await deps.functions.find(env, functionId))?.retries ?? DEFAULT_RETRIES;
  await deps.events.keep(env, eventId);
  const { pending, done } = await deps.steps.progress(env, id);
  const answeredAt = await deps.runs.answeredAt(env, id);
  if (answeredAt < done) await deps.schedule.call({ ref, at: done, retries });
  for (const [stepId, step] of pending) {
    if (step.op === 'StepPlanned') await deps.schedule.call({ ref, stepId, retries });
    if (step.op === 'InvokeFunction') await askInvoked(run, stepId, deps);
    if (step.until !== undefined) {
      await deps.schedule.wake(ref, stepId, step.until, nowMs, step.op === 'WaitForEvent' ? step.name : undefined);
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
