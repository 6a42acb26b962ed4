/** How a run has failed, and how apps see it: in failure events, and as the run's output. */
import type { Dialect } from '../apps/app.ts';
import { MAX_STATE_BYTES, MAX_STEPS } from './memo.ts';
import { type RunError, withoutSource } from './run-error.ts';

/** Names and messages by which apps of the official SDKs know the service's own errors. */
const INNGEST_ERRORS: Record<string, { name: string; message: string; summary?: string; detailed?: true }> = {
  OutputTooLarge: {
    name: 'output_too_large',
    message: "Your function's response body exceeds the maximum size limit",
  },
  StateTooLarge: {
    name: 'InngestErrStateOverflowed',
    message: `The function run exceeded the state size limit of ${MAX_STATE_BYTES} bytes.`,
  },
  TooManySteps: {
    name: 'InngestErrFunctionOverflowed',
    message: `The function run exceeded the step limit of ${MAX_STEPS} steps.`,
    summary: 'function has too many steps',
  },
  InvalidExpression: {
    name: 'InvalidExpression',
    message: 'Wait for event If expression failed to compile',
    detailed: true,
  },
};

/** How a run has failed. */
export interface RunFailure {
  error: RunError;
  /** JSON text of what the app answered, where `error` does not have it exactly. */
  output?: string | undefined;
  /** The failure in a few words, for an error of the app; the service's own have name and message. */
  summary?: string | undefined;
}

/** An error as failure handlers receive it: beside the fields of the error, `error` has a summary. */
export function eventError(failure: RunFailure, dialect: Dialect | undefined): Record<string, unknown> {
  const { summary } = failure;
  const error = withoutSource(failure.error);
  if (summary !== undefined) {
    const { code, ...rest } = error;
    // The official Python SDK sends this code for any error, and expects it not to come back.
    return { error: summary, ...rest, ...(code !== undefined && code !== 'unknown' && { code }) };
  }
  const known = dialect === 'inngest' ? INNGEST_ERRORS[error.name] : undefined;
  if (!known) return { error: `${error.name}: ${error.message}`, ...error };
  return {
    error: known.summary ?? `${known.name}: ${known.message}`,
    name: known.name,
    message: known.message,
    // Where and what the problem is, which these words do not say.
    ...(known.detailed && { stack: `error compiling expression: ${error.message}` }),
  };
}

/** The output of a failed run as JSON text: the app's error as it was sent, or the service's own error. */
export function failedOutput(failure: RunFailure, dialect: Dialect | undefined): string {
  if (failure.output !== undefined) return failure.output;
  if (failure.summary !== undefined) return JSON.stringify(withoutSource(failure.error));
  return JSON.stringify({ error: eventError(failure, dialect) });
}
