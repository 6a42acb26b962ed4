/** Limits the calls among the jobs of `runs` to their share of this worker. A job that would wait for long returns to
 *  the queue, delayed; that uses up no attempt. */
import { DelayedError, type Job } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { NoConnection } from '../functions/connect/transport.ts';
import type { ConnectCaller } from '../jobs/connect/connect-caller.ts';
import type { FunctionTables } from '../jobs/functions/function-tables.ts';
import type { RunJob, RunRef, StoredCallJob } from '../jobs/queues/queues.ts';
import type { CallLimiter } from '../jobs/runs/admission/call-limiter.ts';
import type { RunTransitions } from '../jobs/runs/state-transitions.ts';
import type { AppFunction } from '../model/apps/app.ts';
import { isConnected } from '../model/apps/connection.ts';
import type { CallOwner } from '../model/capacity/fair-shares.ts';
import type { EnvironmentKind } from '../model/environment.ts';
import { Composed } from '../model/values/composed.ts';
import type { EnvironmentKinds } from '../store/environments/environment-kinds.ts';
import type { Runs } from '../store/runs/runs.ts';
import { isWakeUp, type WakeUps } from './wake-ups.ts';

export interface OwnerDeps {
  functions: FunctionTables;
  runs: Pick<Runs, 'pinOf' | 'read'>;
  transitions: Pick<RunTransitions, 'pause'>;
  /** How long a version of an app may be without a connection before runs that need it pause. */
  versionGoneMs: number;
  environmentKinds: EnvironmentKinds;
}

type Handler = (job: Job<RunJob>) => Promise<void>;

export interface JobOwner extends CallOwner {
  /** undefined if it is no longer registered. */
  fn?: AppFunction | undefined;
}

/** Owner of a job's call; synchronous if it is in memory. */
export type OwnerOf = (job: RunJob) => JobOwner | Promise<JobOwner>;

export type Connector = Pick<ConnectCaller, 'reserve' | 'releaseUnused'>;

/** How long a call waits for a connection of an earlier version of its app: calls of other versions continue meanwhile. */
const VERSION_WAIT_MS = 1_000;
const MISSING_MAX = 1_000;

/** Pauses runs whose version has had no connection for long. The time is that of this worker: since it found none, and found none ever since. */
export class MissingVersions extends Composed<Pick<OwnerDeps, 'runs' | 'transitions' | 'versionGoneMs'>> {
  readonly #since = new LRUCache<string, number>({ max: MISSING_MAX });

  found({ app, version }: AppFunction, env: string): void {
    if (this.#since.size > 0 && version !== undefined) this.#since.delete(JSON.stringify([env, app, version]));
  }

  /** @returns whether the run was paused: its job has nothing left to do */
  async missed({ env, runId }: RunRef, app: string, version: string, nowMs: number): Promise<boolean> {
    const key = JSON.stringify([env, app, version]);
    const since = this.#since.get(key);
    if (since === undefined) this.#since.set(key, nowMs);
    if (since === undefined || nowMs - since < this.deps.versionGoneMs) return false;
    const run = await this.deps.runs.read(env, runId);
    if (!run?.pin || run.pin.version !== version) return false;
    const message = `no instance of the version ${version} of the app ${app} is connected`;
    await this.deps.transitions.pause(run, 'version_gone', { name: 'VersionGone', message });
    return true;
  }
}

/** The function as calls of the job's run need it: of functions whose runs are pinned, the run itself says at which version it is. */
export type CalledFunction = (job: RunRef, fn: AppFunction) => AppFunction | Promise<AppFunction>;

export function calledFunction({ functions, runs }: Pick<OwnerDeps, 'functions' | 'runs'>): CalledFunction {
  return (job, fn) => {
    if (fn.version === undefined) return fn;
    return runs.pinOf(job.env, job.runId).then(async (pin) => {
      if (!pin) return fn;
      const { env, functionId } = job;
      return (await functions.ofRun({ env, functionId, pin })) ?? { ...fn, ...pin };
    });
  };
}

export function ownerOf({ functions, environmentKinds }: OwnerDeps): OwnerOf {
  return (job) => {
    const { env, functionId } = job;
    const kind = environmentKinds.of(env);
    // Requests of steps share capacity by target host, so that a slow host delays neither apps nor other hosts.
    if (job.kind === 'request') {
      const owner = (known: EnvironmentKind) => ({ env, branch: known === 'branch', app: job.origin });
      return typeof kind === 'string' ? owner(kind) : kind.then(owner);
    }
    const fn = functions.cached(env, functionId);
    if (fn && typeof kind === 'string') return { env, branch: kind === 'branch', app: fn.app, fn };
    return Promise.all([kind, fn ?? functions.find(env, functionId)]).then(([known, found]) => ({
      env,
      branch: known === 'branch',
      // A deleted function has no app, and counts as a separate app.
      app: found?.app ?? functionId,
      fn: found,
    }));
  };
}

export interface CallLimitsDeps {
  callLimiter: CallLimiter;
  /** Calls that end a sleep are among these. */
  wakeUps: Pick<WakeUps, 'wait'>;
  ownerOf: OwnerOf;
  calledBy: CalledFunction;
  missing: MissingVersions;
  connector: Connector;
  /** The owner of a call that has capacity already, because it started as its job was added. */
  startedOwnerOf: (job: Job<RunJob>) => CallOwner | undefined;
}

export function withCallLimits(
  { callLimiter, wakeUps, ownerOf, calledBy, missing, connector, startedOwnerOf }: CallLimitsDeps,
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
