/** Timeouts of steps. */
import type { Failure } from '../../../functions/interpret-response.ts';
import { permanentFailure } from '../../../functions/interpret-response.ts';
import { type Op, stepName } from '../../../model/runs/operation.ts';
import { DAY_MS, MAX_WAIT_MS, momentMs } from '../../../model/values/time.ts';

/** Time at which the step times out, from its `timeout`; a failure if that is invalid. */
export function untilOf(op: Op, nowMs: number): { until?: number } | Failure {
  const timeout = op.opts?.timeout;
  if (timeout === undefined || timeout === null) return {};
  const until = momentMs(timeout, nowMs);
  if (until !== undefined && isTooFar(until, nowMs)) {
    return tooFar('TimeoutTooLong', `step "${stepName(op)}" has the timeout ${JSON.stringify(timeout)}`);
  }
  if (until !== undefined) return { until };
  return permanentFailure(
    'InvalidTimeout',
    `step "${stepName(op)}" has the timeout ${JSON.stringify(timeout)}, which is neither a time string nor an ISO date`,
  );
}

export function isTooFar(untilMs: number, nowMs: number): boolean {
  return untilMs - nowMs > MAX_WAIT_MS;
}

export function tooFar(name: string, what: string): Failure {
  return permanentFailure(
    name,
    `${what}, which ends more than ${MAX_WAIT_MS / DAY_MS} days from now; use a shorter time`,
  );
}
