/** The result of an invocation of a function whose flow control starts no run. */
import { type ErrorCode, ServiceError } from '../../../errors.ts';
import type { Decision, DecisionReason } from '../../../model/flow-control/decision.ts';
import type { RunError } from '../../../model/runs/run-error.ts';
import { iso } from '../../../model/values/time.ts';

interface SkipReport {
  /** Name of the invoking step's error. The message of a rate limit begins as apps of the official SDKs expect. */
  name: string;
  message(decision: Decision): string;
  code: ErrorCode;
}

const SKIP_REPORTS: Partial<Record<DecisionReason, SkipReport>> = {
  rate_limited: {
    name: 'RateLimited',
    message: ({ until }) => `invoked function is rate limited${until === undefined ? '' : ` until ${iso(until)}`}`,
    code: 'function_rate_limited',
  },
  singleton: {
    name: 'SingletonActive',
    message: ({ runId }) => `invoked function is a singleton, and its run ${runId} is active`,
    code: 'function_singleton',
  },
  idempotent: {
    name: 'IdempotentRepeat',
    message: ({ runId }) => `invoked function has the run ${runId} for the same idempotency key in the last 24 hours`,
    code: 'function_idempotent',
  },
};

export const SKIPPED_INVOCATION_ERRORS = [
  'function_rate_limited',
  'function_singleton',
  'function_idempotent',
] as const satisfies ErrorCode[];

/** The result of the invoking step. */
export function skippedStepError(decision: Decision): RunError {
  const report = SKIP_REPORTS[decision.reason];
  if (report) return { name: report.name, message: report.message(decision) };
  return { name: 'InvocationSkipped', message: `invoked function did not run (${decision.reason})` };
}

/** The response to an invocation through the API. */
export function skippedApiError(decision: Decision, nowMs: number): ServiceError {
  const { reason, runId, until } = decision;
  const { code } = SKIP_REPORTS[reason] ?? { code: 'function_singleton' };
  return new ServiceError(code, {
    detail: detailOf(decision),
    facts: { ...(runId && { run_id: runId }), ...(until && { until: iso(until) }) },
    ...(until && { retryAfterSeconds: Math.max(1, Math.ceil((until - nowMs) / 1_000)) }),
  });
}

function detailOf({ reason, runId, until }: Decision): string {
  return reason === 'rate_limited' && until !== undefined ? `the next run may start at ${iso(until)}` : `run ${runId}`;
}
