/** Enqueues the calls and requests that an active run needs next and that have no live job. */

import { DEFAULT_RETRIES } from '../../../model/runs/retry.ts';
import type { Run } from '../../../model/runs/run.ts';
import { ENDPOINT } from '../../../store/runs/checkpoints.ts';
import type { PendingSteps } from '../../../store/runs/pending-steps.ts';
import type { Store } from '../../../store/store.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import { toRunRef } from '../../queues/queues.ts';
import type { RunScheduler } from './run-scheduler.ts';

export interface MissingCallsDeps extends Pick<Store, 'runs' | 'checkpoints'> {
  functions: FunctionTables;
  scheduler: RunScheduler;
}

export async function retriesOf(
  { env, functionId }: Pick<Run, 'env' | 'functionId'>,
  { functions }: Pick<MissingCallsDeps, 'functions'>,
): Promise<number> {
  return (await functions.find(env, functionId))?.retries ?? DEFAULT_RETRIES;
}

export async function ensureCalls(
  run: Run,
  { pending, done }: Pick<PendingSteps, 'pending' | 'done'>,
  { runs, checkpoints, functions, scheduler }: MissingCallsDeps,
): Promise<void> {
  const { env, id } = run;
  const ref = toRunRef(run);
  const retries = await retriesOf(run, { functions });
  const { answeredAt, racedAt, owner } = await runs.position(env, id, done);
  // The request of an endpoint seems dead, so the service calls the endpoint.
  if (owner === ENDPOINT) await checkpoints.handOver(env, id, owner);
  // While steps are pending, the last one that ends schedules the call (store-memo.lua). A call that has stored steps continues with them.
  const isDue = pending.size === 0 || racedAt > answeredAt || owner !== undefined;
  const finishedSteps = owner === undefined || owner === ENDPOINT ? done : Number(owner);
  if (answeredAt < done && isDue) await scheduler.ensureCall({ ref, finishedSteps, retries });
  for (const [stepId, step] of pending) {
    if (step.op === 'StepPlanned') await scheduler.ensureCall({ ref, stepId, retries });
    if (step.origin !== undefined) await scheduler.ensureRequest({ ref, stepId, origin: step.origin, retries });
  }
}
