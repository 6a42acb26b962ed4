/** Limits the calls among the jobs of `runs` to their share of this worker. A job that would wait for long returns to
 *  the queue, delayed; that uses up no attempt. */
import { DelayedError, type Job } from 'bullmq';
import { NoConnection } from '../functions/connect/transport.ts';
import type { ConnectCaller } from '../jobs/connect/connect-caller.ts';
import type { RunJob, StoredCallJob } from '../jobs/queues/queues.ts';
import type { CallLimiter } from '../jobs/runs/admission/call-limiter.ts';
import type { AppFunction } from '../model/apps/app.ts';
import { isConnected } from '../model/apps/connection.ts';
import type { CallOwner } from '../model/capacity/fair-shares.ts';
import type { CalledFunction, JobOwner, OwnerOf } from './call-owner.ts';
import type { MissingVersions } from './missing-versions.ts';
import { isWakeUp, type WakeUps } from './wake-ups.ts';

type Handler = (job: Job<RunJob>) => Promise<void>;

export type Connector = Pick<ConnectCaller, 'reserve' | 'releaseUnused'>;

/** How long a call waits for a connection of an earlier version of its app: calls of other versions continue meanwhile. */
const VERSION_WAIT_MS = 1_000;

export interface CapacityDeps {
  callLimiter: CallLimiter;
  /** Limits wake-ups, which include calls that end a sleep. */
  wakeUps: Pick<WakeUps, 'wait'>;
  ownerOf: OwnerOf;
  calledBy: CalledFunction;
  missing: MissingVersions;
  connector: Connector;
  /** The owner of a call that has capacity already, because it started as its job was added. */
  startedOwnerOf: (job: Job<RunJob>) => CallOwner | undefined;
}

export function withCapacity(
  { callLimiter, wakeUps, ownerOf, calledBy, missing, connector, startedOwnerOf }: CapacityDeps,
  handler: Handler,
): Handler {
  return async (job) => {
    // A wake job calls no function.
    if (job.data.kind === 'wake') return handler(job);
    const startedOwner = startedOwnerOf(job);
    const found: JobOwner | Promise<JobOwner> = startedOwner ?? ownerOf(job.data);
    const owner = found instanceof Promise ? await found : found;
    const acquired = startedOwner ? undefined : callLimiter.acquire(owner, job.id as string, Date.now());
    const waits = acquired instanceof Promise && isWakeUp(job) ? wakeUps.wait(acquired) : acquired;
    const deferUntil = waits instanceof Promise ? await waits : waits;
    if (deferUntil !== undefined) return defer(job, deferUntil);
    let isBlocked = false;
    try {
      const called = owner.fn && job.data.kind === 'call' ? calledBy(job.data, owner.fn) : undefined;
      const fn = called instanceof Promise ? await called : called;
      if (fn && isConnected(fn.url)) {
        await withConnection(job as Job<StoredCallJob>, fn, connector, handler);
        missing.found(fn, job.data.env);
      } else await handler(job);
    } catch (error) {
      if (!(error instanceof NoConnection)) throw error;
      isBlocked = true;
      const now = Date.now();
      const isOfApp = error.version === owner.fn?.version;
      const isPaused =
        !isOfApp && error.version !== undefined && (await missing.missed(job.data, owner.app, error.version, now));
      if (isPaused) return await handler(job);
      await defer(job, isOfApp ? callLimiter.block(owner, job.id as string, now) : now + VERSION_WAIT_MS);
    } finally {
      callLimiter.release(owner, Date.now(), !isBlocked);
    }
  };
}

/** Handles the job once a connection of its app is reserved for the call.
 *  @throws NoConnection if none accepts the call */
async function withConnection(
  job: Job<StoredCallJob>,
  fn: AppFunction,
  connector: Connector,
  handler: Handler,
): Promise<void> {
  const { env, runId, at: finishedSteps, stepId, attemptsBefore = 0 } = job.data;
  const identity = { runId, finishedSteps, stepId, attempt: attemptsBefore + job.attemptsMade };
  if (!(await connector.reserve(fn, env, identity))) throw new NoConnection('', fn.version);
  try {
    await handler(job);
  } finally {
    await connector.releaseUnused(identity);
  }
}

/** If Redis rejects this, the job returns to the queue when its lock expires, which is not an attempt either. */
async function defer(job: Job<RunJob>, dueAt: number): Promise<never> {
  await job.moveToDelayed(dueAt, job.token).catch(() => {});
  throw new DelayedError();
}
