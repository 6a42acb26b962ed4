/** `Gateway` and `AIGateway`: the step ends with the response to a request that the service makes in a separate job
 *  (../steps/request-job.ts). */
import type { Failure } from '../../../functions/interpret-response.ts';
import { permanentFailure } from '../../../functions/interpret-response.ts';
import {
  InvalidStepRequest,
  originOf,
  type StepRequest,
  toFetchRequest,
  toInferenceRequest,
} from '../../../model/requests/step-request.ts';
import { MAX_STATE_BYTES } from '../../../model/runs/memo.ts';
import { type Op, stepName } from '../../../model/runs/operation.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';
import { type StartingStep, startStep } from './steps.ts';

export function pendingRequest(op: Op): StartingStep {
  return toStep(op, requestOf(op));
}

function toStep(op: Op, request: StepRequest | InvalidStepRequest): StartingStep {
  const origin = request instanceof InvalidStepRequest ? undefined : originOf(request);
  const kind = op.op === 'AIGateway' ? 'AIGateway' : 'Gateway';
  const method = request instanceof InvalidStepRequest ? undefined : request.method;
  return { op: kind, name: stepName(op), ...(origin && { origin }), ...(method && { method }) };
}

export async function startRequest(op: Op, call: CallWithResponse, deps: OperationDeps): Promise<Failure | undefined> {
  const { env, id: runId } = call.loaded.run;
  const request = requestOf(op);
  const starting = toStep(op, request);
  const { origin } = starting;
  const step = await startStep(op, call, deps, starting);
  if (!step || 'kind' in step) return step;
  if (request instanceof InvalidStepRequest || origin === undefined) {
    const message = `the request of step "${stepName(op)}" is invalid: ${(request as InvalidStepRequest).message}`;
    await deps.transitions.finishStep(env, runId, op.id, { error: { name: 'InvalidRequest', message } });
    return undefined;
  }
  const stored = await deps.requests.add(env, runId, op.id, request);
  if (stored === 'bytes') {
    const message = `the requests and outputs of the run's steps are larger than ${MAX_STATE_BYTES} bytes together`;
    return permanentFailure('StateTooLarge', message);
  }
  const { ref, retries } = call;
  if (stored === 'stored') await deps.scheduler.enqueueRequest({ ref, stepId: op.id, origin, retries });
  return undefined;
}

function requestOf({ op, opts }: Op): StepRequest | InvalidStepRequest {
  try {
    return op === 'AIGateway' ? toInferenceRequest(opts ?? {}) : toFetchRequest(opts ?? {});
  } catch (error) {
    if (error instanceof InvalidStepRequest) return error;
    throw error;
  }
}
