/** `Sleep`: the step ends at a given time. */
import type { Failure } from '../../../functions/interpret-response.ts';
import { permanentFailure } from '../../../functions/interpret-response.ts';
import { type Op, stepName } from '../../../model/runs/operation.ts';
import { momentMs } from '../../../model/values/time.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';
import { enqueueWake, type StartingStep, startStep } from './steps.ts';
import { isTooFar, tooFar } from './timeout.ts';

export function pendingSleep(op: Op, nowMs: number): StartingStep | Failure {
  // Version 3 of the official TypeScript SDK sends an empty duration for less than a second.
  const text = op.opts?.duration || op.name || '0s';
  const until = momentMs(text, nowMs);
  if (until === undefined)
    return permanentFailure(
      'InvalidSleep',
      `step "${stepName(op)}" sleeps for ${JSON.stringify(text)}, which is neither a time string nor an ISO date`,
    );
  if (isTooFar(until, nowMs))
    return tooFar('SleepTooLong', `step "${stepName(op)}" sleeps for ${JSON.stringify(text)}`);
  return { op: 'Sleep', name: stepName(op), until };
}

export async function startSleep(op: Op, call: CallWithResponse, deps: OperationDeps): Promise<Failure | undefined> {
  const step = pendingSleep(op, call.nowMs);
  if ('kind' in step) return step;
  const sleeping = await startStep(op, call, deps, step);
  if (sleeping && 'kind' in sleeping) return sleeping;
  if (sleeping?.until !== undefined) await enqueueWake(op, call, deps, { untilMs: sleeping.until });
  return undefined;
}
