/** The failure of a run as apps see it: in failure events, and as the run's output. */
import type { Dialect } from '../apps/app.ts';
import { MAX_STATE_BYTES, MAX_STEPS } from './memo.ts';
import { type RunError, withoutSource } from './run-error.ts';

/** Names and messages that apps of the official SDKs expect for the service's own errors. */
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
  /** JSON text of the app's response, if `error` does not represent it exactly. */
  output?: string | undefined;
  /** A short summary of an app's error; the service's own errors use name and message. */
  summary?: string | undefined;
}

/** The error as failure handlers receive it: its fields, and a summary as `error`. */
export function eventError(failure: RunFailure, dialect: Dialect | undefined): Record<string, unknown> {
  const { summary } = failure;
  const error = withoutSource(failure.error);
  if (summary !== undefined) {
    const { code, ...rest } = error;
    // The official Python SDK sends this code for any error, and expects it not to be returned.
    return { error: summary, ...rest, ...(code !== undefined && code !== 'unknown' && { code }) };
  }
  const known = dialect === 'inngest' ? INNGEST_ERRORS[error.name] : undefined;
  if (!known) return { error: `${error.name}: ${error.message}`, ...error };
  return {
    error: known.summary ?? `${known.name}: ${known.message}`,
    name: known.name,
    message: known.message,
    // Adds the position and the problem, which the fixed message lacks.
    ...(known.detailed && { stack: `error compiling expression: ${error.message}` }),
  };
}

/** Output of a failed run as JSON text: the app's error as sent, or the service's own error. */
export function failedOutput(failure: RunFailure, dialect: Dialect | undefined): string {
  if (failure.output !== undefined) return failure.output;
  if (failure.summary !== undefined) return JSON.stringify(withoutSource(failure.error));
  return JSON.stringify({ error: eventError(failure, dialect) });
}
