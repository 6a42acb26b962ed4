/** Enforces limits on the calls of workers. A job that was enqueued before its call was admitted (a retry, or a call on a future event)
 *  asks for admission when it is due, or waits. After each call, its permits go to other calls. */

import { setImmediate } from 'node:timers/promises';
import { mayNotStart } from '../../../model/flow-control/limits.ts';
import { hasEnded, type Run } from '../../../model/runs/run.ts';
import type { Clock } from '../../../model/values/clock.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { EndedCall } from '../../../store/flow-control/admissions.ts';
import type { Store } from '../../../store/store.ts';
import type { Admission } from '../../flow-control/admission.ts';
import { hasLimits, limitsContinuing } from '../../flow-control/limited-calls.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import { callJobId, callOf, entryOf } from '../../queues/call-ref.ts';
import type { CallJob } from '../../queues/queues.ts';
import type { QueuedRunJobs } from '../scheduling/queued-run-jobs.ts';
import type { RunScheduler } from '../scheduling/run-scheduler.ts';

export interface CallPermits {
  entry: string;
  partition: number;
  /** Number of executions of the job: a later execution may have taken over the permits. undefined: the function no longer has limits. */
  executions?: number;
}

export class AdmittedCalls extends Composed<{
  /** An admission younger than this needs no check. If it is older, the job was late, and another call may hold its permits. */
  trustMs: number;
  admission: Admission;
  functions: FunctionTables;
  heldFunctions: Pick<Store['heldFunctions'], 'follow'>;
  runs: Store['runs'];
  scheduler: RunScheduler;
  queuedRunJobs: Pick<QueuedRunJobs, 'promoteDeferred'>;
  clock: Clock;
}> {
  /** Keyed by partition. */
  readonly #ending = new Map<number, { ended: EndedCall[]; done: Promise<void> }>();

  /** @param executions number of executions of the job, including this one
   *  @returns the permits that the call holds; undefined: the call has no limits; 'waits': it must not be made yet */
  async admit(job: CallJob, executions: number): Promise<CallPermits | 'waits' | undefined> {
    const { env, runId, functionId, finishedSteps, stepId, admitted, sleep } = job;
    const entry = entryOf({
      runId,
      ...(finishedSteps !== undefined && { finishedSteps }),
      ...(stepId !== undefined && { stepId }),
    });
    const { functions, runs, admission, scheduler, clock, trustMs } = this.deps;
    const [partition, admittedAt = 0] = admitted ?? [];
    if (partition !== undefined && executions === 1 && clock() - admittedAt < trustMs)
      return { entry, partition, executions };
    const fn = await functions.find(env, functionId);
    // A run that sleeps has already started.
    if (!fn || !(sleep === undefined ? hasLimits(fn) : limitsContinuing(fn))) {
      return partition === undefined ? undefined : { entry, partition };
    }
    const run = await runs.read(env, runId);
    if (!run || hasEnded(run)) return partition === undefined ? undefined : { entry, partition };
    const jobId = callJobId(runId, finishedSteps, stepId);
    const call = callOf(run, { finishedSteps, stepId }, fn);
    const ready = await admission.admit([call], executions);
    const isOwn = ({ ref, finishedSteps, stepId }: (typeof ready)[number]) =>
      callJobId(ref.runId, finishedSteps, stepId) === jobId;
    await scheduler.start(ready.filter((call) => !isOwn(call)));
    const own = ready.find(isOwn);
    if (!own) return 'waits';
    return own.admitted && { entry, partition: own.admitted[0], executions };
  }

  /** Reads the function again, because this process may not know of its pause yet, and removes a mark that an ended pause has left. */
  async refreshPauseMark({ env, functionId, queuedAt }: Run): Promise<void> {
    const { functions, heldFunctions } = this.deps;
    const fn = (await functions.of(env)).find(functionId);
    if (!fn || !mayNotStart(fn, queuedAt)) await heldFunctions.follow(env, functionId, fn);
  }

  /** Makes a delayed job due if its call was admitted in the meantime. */
  async recheck(job: CallJob, executions: number): Promise<void> {
    const { admitted: _former, ...unadmitted } = job;
    const { runId, finishedSteps, stepId } = job;
    if ((await this.admit(unadmitted, executions)) !== 'waits')
      await this.deps.queuedRunJobs.promoteDeferred(callJobId(runId, finishedSteps, stepId));
  }

  /** Releases the permits of an ended call. If Redis rejects the release, the check of the admission releases them (admission-checks.ts).
   *  Calls that end together share a round trip. */
  release({ entry, partition, executions }: CallPermits): Promise<void> {
    const call = { entry, ...(executions !== undefined && { executions }) };
    const batch = this.#ending.get(partition);
    if (batch) {
      batch.ended.push(call);
      return batch.done;
    }
    const ended = [call];
    const done = this.#releaseAll(partition, ended);
    this.#ending.set(partition, { ended, done });
    return done;
  }

  async #releaseAll(partition: number, ended: readonly EndedCall[]): Promise<void> {
    await setImmediate();
    this.#ending.delete(partition);
    const { admission, scheduler } = this.deps;
    await scheduler.start(await admission.releaseAll(partition, ended));
  }
}
