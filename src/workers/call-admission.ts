/** Holds the calls among the jobs of `runs` to their shares of this worker. A job that would have to wait for long goes back into the
 *  queue, delayed; that uses up no attempt. */
import { DelayedError, type Job } from 'bullmq';
import type { FunctionTables } from '../jobs/ingestion/function-tables.ts';
import type { RunJob } from '../jobs/queues/queues.ts';
import type { CallLimiter } from '../jobs/runs/call-limiter.ts';
import type { CallOwner } from '../model/capacity/fair-shares.ts';
import type { EnvironmentKinds } from '../store/environments/environment-kinds.ts';

interface OwnerDeps {
  functions: FunctionTables;
  environmentKinds: EnvironmentKinds;
}

type Handler = (job: Job<RunJob>) => Promise<void>;

/** Whom a job's call is for; at once where that is known. */
export type OwnerOf = (job: RunJob) => CallOwner | Promise<CallOwner>;

export function ownerOf({ functions, environmentKinds }: OwnerDeps): OwnerOf {
  return ({ env, functionId }) => {
    const kind = environmentKinds.of(env);
    const fn = functions.held(env, functionId);
    if (fn && typeof kind === 'string') return { env, branch: kind === 'branch', app: fn.app };
    return Promise.all([kind, fn ?? functions.find(env, functionId)]).then(([known, found]) => ({
      env,
      branch: known === 'branch',
      // A function that is gone is called by nobody; it stands for itself.
      app: found?.app ?? functionId,
    }));
  };
}

export function withCallLimits(gate: CallLimiter, ownerOf: OwnerOf, handler: Handler): Handler {
  return async (job) => {
    // It calls nobody.
    if (job.data.kind === 'wake') return handler(job);
    const found = ownerOf(job.data);
    const owner = found instanceof Promise ? await found : found;
    const verdict = gate.enter(owner, job.id as string, Date.now());
    const backAt = verdict instanceof Promise ? await verdict : verdict;
    if (backAt !== undefined) return putBack(job, backAt);
    try {
      await handler(job);
    } finally {
      gate.leave(owner, Date.now());
    }
  };
}

/** Where Redis does not take it back now, it does when the job's lock has run out; that, too, is no attempt. */
async function putBack(job: Job<RunJob>, at: number): Promise<never> {
  await job.moveToDelayed(at, job.token).catch(() => {});
  throw new DelayedError();
}
