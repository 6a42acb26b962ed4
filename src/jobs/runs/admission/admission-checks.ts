/** Checks admissions: whether the holder of a permit is still alive, whether a limit has room for waiting calls, and whether backlogs match
 *  the current configuration of their function. Completes work left undone by dead processes. */

import { duty } from '../../../duties/duty.ts';
import { hasEnded } from '../../../model/runs/run.ts';
import type { Clock } from '../../../model/values/clock.ts';
import type { DueAdmission, DueCheck } from '../../../store/flow-control/admissions.ts';
import type { Store } from '../../../store/store.ts';
import type { Admission } from '../../flow-control/admission.ts';
import { callOfEntry } from '../../queues/call-ref.ts';
import type { QueuedRunJobs } from '../scheduling/queued-run-jobs.ts';
import type { RunScheduler } from '../scheduling/run-scheduler.ts';

/** Interval of checks of an active run, which may sleep for months. */
const RUN_CHECK_MS = 300_000;

export interface AdmissionChecksDeps extends Pick<Store, 'admissions' | 'runs' | 'activeRuns'> {
  admission: Admission;
  scheduler: RunScheduler;
  queuedRunJobs: Pick<QueuedRunJobs, 'isLive'>;
  clock: Clock;
}

const AGAIN_MS = 50;

export const admissionChecks = duty<AdmissionChecksDeps>({
  name: 'admission-checks',
  about: 'Checks what holds permits of limits, and which calls need not wait',
  scope: 'partition',
  everyMs: 1_000,
  rounds:
    (deps) =>
    async ({ partition }) =>
      (await checkAdmissions(partition, deps)) > 0 ? AGAIN_MS : undefined,
});

/** @returns number of checks made */
async function checkAdmissions(partition: number, deps: AdmissionChecksDeps): Promise<number> {
  const { admissions } = deps;
  const due = await admissions.claimChecks(partition);
  for (const check of due) {
    await carryOut(partition, check, deps);
    await admissions.doneChecking(partition, check);
  }
  return due.length;
}

async function carryOut(partition: number, check: DueCheck, deps: AdmissionChecksDeps): Promise<void> {
  const { admission, scheduler } = deps;
  switch (check.kind) {
    case 'limit':
      return scheduler.start(await admission.advance(partition, check.limit));
    case 'function':
      return admission.adapt(partition, check, (calls) => scheduler.start(calls));
    case 'admission':
      return checkAdmission(partition, check, deps);
  }
}

async function checkAdmission(partition: number, check: DueAdmission, deps: AdmissionChecksDeps): Promise<void> {
  const { admissions, admission, scheduler, queuedRunJobs, runs, activeRuns, clock } = deps;
  const { entry, env, claimedUntil } = check;
  const call = callOfEntry(entry);
  const runId = call?.runId ?? entry;
  if (call && (await queuedRunJobs.isLive(call))) {
    await scheduler.promoteAdmitted(call);
    return admissions.keep(partition, check);
  }
  const run = await runs.read(env, runId);
  const isActive = run !== undefined && !hasEnded(run);
  if (!call && isActive) return admissions.keep(partition, check, RUN_CHECK_MS);
  await scheduler.start(await admission.releaseLost(partition, entry, claimedUntil));
  // The call of an active run may still be due.
  if (isActive) await activeRuns.postpone(env, runId, clock());
}
