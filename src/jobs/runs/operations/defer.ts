/** `DeferAdd` and `DeferAbort`: a function runs after the end of the run, whatever its ending (../ends/deferred-functions.ts). */
import type { Failure } from '../../../functions/interpret-response.ts';
import { permanentFailure } from '../../../functions/interpret-response.ts';
import { metaOf } from '../../../model/events/sessions.ts';
import { MAX_STATE_BYTES, MAX_STEPS } from '../../../model/runs/memo.ts';
import { type Op, stepName } from '../../../model/runs/operation.ts';
import { isJsonObject } from '../../../model/values/json.ts';
import type { DeferOutcome } from '../../../store/runs/defers.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';

/** The needed part of a call with its response. */
type CallOfRun = { loaded: { run: Pick<CallWithResponse['loaded']['run'], 'env' | 'id'> } };
type DeferDeps = Pick<OperationDeps, 'defers'>;

export async function addDefer(op: Op, call: CallOfRun, { defers }: DeferDeps): Promise<Failure | undefined> {
  const { env, id: runId } = call.loaded.run;
  const { fn_slug: functionId, input = {} } = op.opts ?? {};
  if (!functionId || !isJsonObject(input)) {
    const what = functionId ? 'data that is not an object' : 'no function';
    return permanentFailure('InvalidDefer', `"${stepName(op)}" defers ${what}`);
  }
  return failureOf(await defers.add(env, runId, op.id, { functionId, input, meta: metaOf(op.opts) }));
}

export async function abortDefer(op: Op, call: CallOfRun, { defers }: DeferDeps): Promise<Failure | undefined> {
  const { env, id: runId } = call.loaded.run;
  const target = op.opts?.target_hashed_id;
  if (!target) return permanentFailure('InvalidDefer', `"${stepName(op)}" aborts nothing: it has no target_hashed_id`);
  return failureOf(await defers.add(env, runId, target, undefined));
}

function failureOf(outcome: DeferOutcome): Failure | undefined {
  if (outcome === 'count') {
    return permanentFailure(
      'TooManySteps',
      `the run defers more than ${MAX_STEPS} functions; defer one that does the rest`,
    );
  }
  if (outcome === 'bytes') {
    const message = `the data of deferred functions and the outputs of the run's steps are larger than ${MAX_STATE_BYTES} bytes together`;
    return permanentFailure('StateTooLarge', message);
  }
  return undefined;
}
