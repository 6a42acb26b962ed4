/** Enqueues the jobs of runs. Job IDs are derived from the job's purpose, so enqueuing is idempotent. A call of a function with limits
 *  gets its job when it is admitted (flow-control/admission.ts). */
import { type EnvironmentKind, PRODUCTION } from '../../../model/environment.ts';
import type { Run } from '../../../model/runs/run.ts';
import { chunksOf } from '../../../model/values/chunks.ts';
import { Composed } from '../../../model/values/composed.ts';
import { BRANCH_PRIORITY, WAKE_UP_PRIORITY } from '../../../store/keys/bullmq.ts';
import type { WaitingJob } from '../../../store/redis/job-lists.ts';
import type { JobAfterSleep } from '../../../store/runs/steps.ts';
import type { Store } from '../../../store/store.ts';
import type { Admission, AdmittedCallToSchedule } from '../../flow-control/admission.ts';
import { type CallRef, type CallToSchedule, callRefOf, jobIdOf } from '../../queues/call-ref.ts';
import { type RunQueue, type TracedRunRef, toRunRef } from '../../queues/queues.ts';
import { DELAY_MAX_MS } from '../admission/deferred-calls.ts';
import { LIVE_STATES, type QueuedRunJobs } from './queued-run-jobs.ts';
import {
  callAfterSleep,
  callJob,
  type JobToAdd,
  type RequestToSchedule,
  requestJob,
  storedJob,
  type WakeToSchedule,
  waitingJob,
  wakeJob,
  wakeJobLeadMs,
} from './run-jobs.ts';

/** Maximum number of wake jobs that BullMQ adds in one transaction. */
const WAKES_AT_ONCE = 100;

export class RunScheduler extends Composed<
  Pick<Store, 'jobLists' | 'environmentKinds' | 'activeRuns'> & {
    queuedRunJobs: QueuedRunJobs;
    admission: Admission;
    reconcileAfterMs: number;
  }
> {
  async enqueueCall(call: CallToSchedule): Promise<void> {
    await this.enqueueCalls([call]);
  }

  async enqueueCalls(calls: readonly CallToSchedule[]): Promise<void> {
    if (calls.length === 0) return;
    await this.start(await this.deps.admission.admit(calls));
  }

  /** @returns the job of the call, which is not enqueued; undefined: it waits for more than a worker */
  async waitingCall(call: CallToSchedule): Promise<WaitingJob | undefined> {
    if (!(await this.#needsOnlyWorker(call.ref))) return undefined;
    const [job] = await this.#withPriorities([callJob(call)]);
    return job && waitingJob(job);
  }

  /** @returns the job of the call after a sleep, whose number of finished steps is not known yet; undefined: it waits
   *  for more than time and a worker */
  async jobAfterSleep(wake: WakeToSchedule, retries: number): Promise<JobAfterSleep | undefined> {
    const { ref, untilMs, nowMs } = wake;
    if (!(await this.#needsOnlyWorker(ref))) return undefined;
    const [job] = await this.#withPriorities([yielding(callAfterSleep(wake, { retries }))]);
    const id = `${ref.runId}-`;
    const reconcileAt = this.#isFar(wake) ? { reconcileAt: nowMs + this.deps.reconcileAfterMs } : {};
    return job && { ...storedJob(job), id, dueAt: Math.max(untilMs, nowMs), ...reconcileAt };
  }

  async #needsOnlyWorker(ref: TracedRunRef): Promise<boolean> {
    // If tracing is on, BullMQ must add the job itself, because it makes the span.
    return !this.deps.queuedRunJobs.queueOf(ref.runId).opts.telemetry && !(await this.deps.admission.isLimited(ref));
  }

  /** Enqueues the jobs of admitted calls. */
  async start(calls: readonly AdmittedCallToSchedule[]): Promise<void> {
    if (calls.length === 0) return;
    const waited = calls.filter(({ hasWaited }) => hasWaited);
    // The job of a retry may exist already, delayed.
    const delayed = waited.length > 0 ? await this.deps.queuedRunJobs.delayedCalls(waited.map(callRefOf)) : new Map();
    let added: AdmittedCallToSchedule[] = [];
    // Keeps the calls in order.
    for (const call of calls) {
      const jobId = jobIdOf(callRefOf(call));
      if (!call.hasWaited || !delayed.has(jobId)) {
        added.push(call);
        continue;
      }
      await this.#add(added);
      added = [];
      await this.deps.queuedRunJobs.promoteDeferred(jobId);
    }
    await this.#add(added);
  }

  async #add(calls: readonly AdmittedCallToSchedule[]): Promise<void> {
    if (calls.length === 0) return;
    const byQueue = Map.groupBy(calls, ({ ref }) => this.deps.queuedRunJobs.queueOf(ref.runId));
    await Promise.all(
      [...byQueue].map(async ([queue, some]) => this.#addTo(queue, await this.#withPriorities(some.map(callJob)))),
    );
  }

  async #addTo(queue: RunQueue, jobs: readonly JobToAdd[]): Promise<void> {
    // If tracing is on, BullMQ must add the jobs itself, because it makes the spans.
    if (queue.opts.telemetry) return void (await queue.addBulk([...jobs]));
    const waiting: WaitingJob[] = [];
    const others: JobToAdd[] = [];
    for (const job of jobs) {
      const found = waitingJob(job);
      if (found) waiting.push(found);
      else others.push(job);
    }
    const added = this.deps.jobLists.add((suffix) => queue.toKey(suffix), waiting, Date.now());
    await Promise.all([added, ...(others.length > 0 ? [queue.addBulk(others)] : [])]);
  }

  /** Wakes the step at `untilMs`, unless it has ended before. If that is far away, the reconciler enqueues the job in time. */
  async enqueueWake(wake: WakeToSchedule): Promise<void> {
    const { ref, nowMs } = wake;
    if (this.#isFar(wake)) await this.deps.activeRuns.advance(ref.env, ref.runId, nowMs + this.deps.reconcileAfterMs);
    else await this.#addOne(await this.#jobOfWake(wake));
  }

  /** Enqueues wake-ups that are due soon, of runs of one partition. */
  async enqueueWakes(wakes: readonly WakeToSchedule[]): Promise<void> {
    for (const some of chunksOf(wakes, WAKES_AT_ONCE)) {
      const [{ ref }] = some as [WakeToSchedule];
      const jobs = await Promise.all(some.map((wake) => this.#jobOfWake(wake)));
      await this.deps.queuedRunJobs.queueOf(ref.runId).addBulk(await this.#withPriorities(jobs));
    }
  }

  /** The job of a wake-up, which yields to other jobs. A call with limits gets a wake job first: otherwise its run would sleep on while the
   *  call waits for permits. */
  async #jobOfWake(wake: WakeToSchedule): Promise<JobToAdd> {
    const { next, ref } = wake;
    // A run that sleeps has started.
    const callsAtOnce = next && !(await this.deps.admission.isLimited({ ...ref, started: true }));
    return yielding(callsAtOnce ? callAfterSleep(wake, next) : wakeJob(wake));
  }

  #isFar({ untilMs, nowMs, horizonMs = nowMs }: WakeToSchedule): boolean {
    return untilMs > horizonMs + wakeJobLeadMs(this.deps.reconcileAfterMs);
  }

  /** Enqueues the request of a step. */
  async enqueueRequest(request: RequestToSchedule): Promise<void> {
    await this.#addOne(requestJob(request));
  }

  async #addOne(given: JobToAdd): Promise<void> {
    for (const { name, data, opts } of await this.#withPriorities([given])) {
      await this.deps.queuedRunJobs.queueOf(data.runId).add(name, data, opts);
    }
  }

  async ensureRequest(request: RequestToSchedule): Promise<void> {
    await this.deps.queuedRunJobs.removeDead(
      jobIdOf({ runId: request.ref.runId, stepId: request.stepId, request: true }),
    );
    await this.enqueueRequest(request);
  }

  /** Makes the job of an admitted call due, if it was put aside: the process that admitted the call may have died before it did so. */
  async promoteAdmitted(call: CallRef): Promise<void> {
    if (await this.#isDueLate(call)) await this.deps.queuedRunJobs.promoteDeferred(jobIdOf(call));
  }

  /** Whether the job is delayed for longer than a call that waits for capacity (workers/call-permits.ts). */
  async #isDueLate(call: CallRef): Promise<boolean> {
    return ((await this.deps.queuedRunJobs.delayedCalls([call])).get(jobIdOf(call)) ?? 0) > Date.now() + DELAY_MAX_MS;
  }

  /** Withdraws the waiting calls of an ended run, and releases its limits. */
  async endRun(run: Run, calls: readonly CallRef[]): Promise<void> {
    const ref = toRunRef(run);
    await this.start(
      await this.deps.admission.endRun(
        run,
        calls.map(({ finishedSteps, stepId }) => toCall(ref, finishedSteps, stepId)),
      ),
    );
  }

  /** Enqueues the call unless its job is live. A dead job with its ID, failed or completed, is replaced. If its job was put aside to wait
   *  for permits, the call asks for them again, because its worker may have died before it did so. */
  async ensureCall(call: CallToSchedule): Promise<void> {
    const jobId = jobIdOf(callRefOf(call));
    const queue = this.deps.queuedRunJobs.queueOf(jobId);
    const state = await queue.getJobState(jobId);
    if (!LIVE_STATES.has(state)) {
      await queue.remove(jobId, { removeChildren: false });
      return this.enqueueCall(call);
    }
    // The worker of any other live job asks for admission: a retry that is not due yet holds no permits.
    if (state !== 'delayed' || !(await this.#isPutAside(callRefOf(call)))) return;
    const ready = await this.deps.admission.admit([call]);
    await this.start(ready.map((admitted) => ({ ...admitted, hasWaited: true })));
  }

  /** Whether the job waits for permits although its first attempt was due. */
  async #isPutAside(call: CallRef): Promise<boolean> {
    if (!(await this.#isDueLate(call))) return false;
    const jobId = jobIdOf(call);
    const job = await this.deps.queuedRunJobs.queueOf(jobId).getJob(jobId);
    return job !== undefined && job.attemptsMade === 0 && job.timestamp + (job.opts.delay ?? 0) <= Date.now();
  }

  async ensureWake(wake: WakeToSchedule): Promise<void> {
    if (this.#isFar(wake)) return;
    const { jobId } = (await this.#jobOfWake(wake)).opts;
    await this.deps.queuedRunJobs.removeDead(jobId);
    await this.enqueueWake(wake);
  }

  async #withPriorities<Job extends JobToAdd>(jobs: readonly Job[]): Promise<Job[]> {
    const kinds = new Map<string, EnvironmentKind>();
    for (const { env } of jobs.map(({ data }) => data)) {
      if (env !== PRODUCTION && !kinds.has(env)) kinds.set(env, await this.deps.environmentKinds.of(env));
    }
    return jobs.map((job) => {
      return kinds.get(job.data.env) === 'branch' ? { ...job, opts: { ...job.opts, priority: BRANCH_PRIORITY } } : job;
    });
  }
}

function yielding(job: JobToAdd): JobToAdd {
  return { ...job, opts: { ...job.opts, priority: WAKE_UP_PRIORITY } };
}

function toCall(ref: TracedRunRef, finishedSteps: number | undefined, stepId: string | undefined): CallToSchedule {
  return {
    ref,
    ...(finishedSteps !== undefined && { finishedSteps }),
    ...(stepId !== undefined && { stepId }),
    retries: 0,
  };
}
