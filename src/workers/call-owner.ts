/** Finds the owner whose capacity the call of a job uses, and the function that it calls. */
import type { FunctionTables } from '../jobs/functions/function-tables.ts';
import type { RunJob, RunRef } from '../jobs/queues/queues.ts';
import type { AppFunction } from '../model/apps/app.ts';
import type { CallOwner } from '../model/capacity/fair-shares.ts';
import type { EnvironmentKind } from '../model/environment.ts';
import type { Store } from '../store/store.ts';

export interface OwnerDeps extends Pick<Store, 'environmentKinds'> {
  functions: FunctionTables;
  runs: Pick<Store['runs'], 'pinOf'>;
}

export interface JobOwner extends CallOwner {
  /** undefined if it is no longer registered. */
  fn?: AppFunction | undefined;
}

/** Owner of a job's call; synchronous if it is in memory. */
export type OwnerOf = (job: RunJob) => JobOwner | Promise<JobOwner>;

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

/** The function to call for a job's run: for functions with versions, the run says which version it is pinned to. */
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
