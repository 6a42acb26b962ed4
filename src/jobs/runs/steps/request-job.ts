/** The request job: makes the request of a step and finishes the step with its response. Each failed request is an attempt of the job. A
 *  request is repeated without a failure only if its worker dies before storing the response. */
import type { Failure } from '../../../functions/interpret-response.ts';
import type { StepRequestClient } from '../../../functions/step-request-client.ts';
import { SealError } from '../../../model/auth/seal.ts';
import type { EnvironmentKind } from '../../../model/environment.ts';
import { redact, secretsOf } from '../../../model/requests/secrets.ts';
import type { StepRequest } from '../../../model/requests/step-request.ts';
import { type Memo, requestsOutside } from '../../../model/runs/memo.ts';
import { hasEnded, type RunError } from '../../../model/runs/run.ts';
import { boundedError } from '../../../model/runs/run-error.ts';
import { linksOfRequest } from '../../../model/runs/step-links.ts';
import type { Store } from '../../../store/store.ts';
import type { JobAttempts, RequestJob } from '../../queues/queues.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { requestHistory } from '../attempt-history.ts';
import { AttemptFailed, retryStoreWrites, withServiceErrors } from '../calls/service-errors.ts';
import type { RunTransitions } from '../state-transitions.ts';
import { resultOf } from './step-response.ts';

export interface RequestDeps extends Pick<Store, 'runs' | 'steps' | 'requests'> {
  transitions: RunTransitions;
  requestClient: StepRequestClient;
  kindOf: (env: string) => Promise<EnvironmentKind> | EnvironmentKind;
  telemetry: Telemetry;
}

/** `status` is that of the response, if there was one. */
type Result = ({ memo: Memo } | Failure) & { status?: number };

/** @throws AttemptFailed when another attempt follows, or Redis's error when it rejects commands before the request is made */
export async function makeRequest(
  job: RequestJob,
  queuedAt: number,
  attempts: JobAttempts,
  deps: RequestDeps,
): Promise<void> {
  await withServiceErrors(job, attempts, deps, () => requestOnce(job, queuedAt, attempts, deps));
}

async function requestOnce(job: RequestJob, queuedAt: number, attempts: JobAttempts, deps: RequestDeps): Promise<void> {
  const { env, runId, stepId } = job;
  const { runs, transitions, telemetry } = deps;
  const startedAt = Date.now();
  const run = await runs.read(env, runId);
  const step = (await deps.steps.progress(env, runId)).pending.get(stepId);
  if (!run || hasEnded(run) || !step || !requestsOutside(step)) return;
  const result = await resultFor(job, deps);
  if (!('kind' in result)) {
    const links = linksOfRequest(step, result.status);
    await retryStoreWrites(() => transitions.finishStep(env, runId, stepId, result.memo, { links, pending: step }));
    return;
  }
  const error = boundedError(result.error);
  const times = { queuedAt, startedAt, endedAt: Date.now() };
  const entry = requestHistory(stepId, step, { attempt: attempts.made, error, ...times }, result.status);
  await retryStoreWrites(() => runs.appendHistory(env, runId, [entry]));
  telemetry.recordHistory(run, [entry]);
  if (!result.retriable || attempts.made + 1 >= attempts.max) {
    const links = linksOfRequest(step, result.status);
    await retryStoreWrites(() => transitions.finishStep(env, runId, stepId, { error }, { links, pending: step }));
    return;
  }
  await retryStoreWrites(() => runs.recordError(env, runId, error));
  throw new AttemptFailed(error, result.retryAfterMs);
}

async function resultFor(
  { env, runId, stepId }: RequestJob,
  { requests, requestClient, kindOf }: RequestDeps,
): Promise<Result> {
  let request: StepRequest | undefined;
  try {
    request = await requests.read(env, runId, stepId);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return unreadable('SECRET_KEY has changed since, and SECRET_KEY_FALLBACK is not the former one');
  }
  if (!request) return unreadable('it is no longer stored');
  const secrets = secretsOf(request);
  // Inferences go to providers of models, which define no such header.
  const idempotencyKey = request.kind === 'fetch' ? `${runId}-${stepId}` : undefined;
  const response = await requestClient.send(request, await kindOf(env), idempotencyKey);
  const answered = 'kind' in response ? undefined : { status: response.status };
  const result = 'kind' in response ? response : resultOf(request, response, secrets, Date.now());
  return { ...('kind' in result ? { ...result, error: redacted(result.error, secrets) } : result), ...answered };
}

function unreadable(why: string): Failure {
  const error = { name: 'RequestUnreadable', message: `the request cannot be made: ${why}` };
  return { kind: 'failed', error, retriable: false };
}

function redacted({ name, message }: RunError, secrets: readonly string[]): RunError {
  return { name, message: redact(message, secrets) };
}
