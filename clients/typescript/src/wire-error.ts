/** Serialized errors: `{ name, message, stack?, cause?, data?, code?, source? }`. */
import { inspect } from 'node:util';
import { type ErrorSource, sourceOf } from './error-source.ts';

export interface ErrorOnTheWire {
  name: string;
  message: string;
  stack?: string | undefined;
  /** Another error, or any JSON. */
  cause?: unknown;
  data?: unknown;
  code?: string | number | undefined;
  /** The code that threw it. Only of the error itself, not of its causes. */
  source?: ErrorSource;
}

/** Number of causes of an error that the service keeps. */
const MAX_CAUSES = 5;
/** Maximum size of `data` that the service keeps. */
const MAX_DATA_LENGTH = 16 * 1_024;

/** With the lines of code around the place where it was thrown, if they can be read. */
export function withSource(error: ErrorOnTheWire): ErrorOnTheWire {
  const source = sourceOf(error.stack);
  return source ? { ...error, source } : error;
}

/** Serializes any thrown value. */
export function describeError(thrown: unknown, causes = MAX_CAUSES): ErrorOnTheWire {
  if (!(thrown instanceof Error)) {
    return { name: 'Error', message: typeof thrown === 'string' ? thrown : inspect(thrown) };
  }
  const { name, message } = thrown;
  // The cause of a StepError is the error of the step itself: its stack leads to the code that failed.
  const { stack, cause, data, code } = (
    'stepId' in thrown ? (thrown.cause ?? thrown) : thrown
  ) as Partial<ErrorOnTheWire>;
  const wire: ErrorOnTheWire = { name, message, stack };
  if (causes > 0 && (cause ?? null) !== null) wire.cause = describeCause(cause, causes - 1);
  const json = boundedJson(data);
  if (json !== undefined) wire.data = json;
  if (typeof code === 'string' || typeof code === 'number') wire.code = code;
  return wire;
}

function describeCause(cause: unknown, causes: number): unknown {
  return cause instanceof Error ? describeError(cause, causes) : (boundedJson(cause) ?? inspect(cause));
}

/** undefined: it is too large, or JSON cannot represent it. */
function boundedJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) ?? '';
    return text !== '' && text.length <= MAX_DATA_LENGTH ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Restores an Error with its original fields. */
export function reviveError({ name, message, stack, cause, data, code }: Partial<ErrorOnTheWire>): Error {
  const hasCause = (cause ?? null) !== null;
  const error = new Error(message ?? 'The error has no message', hasCause ? { cause: reviveCause(cause) } : {});
  error.name = name ?? 'Error';
  if (stack) error.stack = stack;
  return Object.assign(error, data !== undefined && { data }, code !== undefined && { code });
}

function reviveCause(cause: unknown): unknown {
  const isError = typeof cause === 'object' && cause !== null && 'message' in cause;
  return isError ? reviveError(cause as Partial<ErrorOnTheWire>) : cause;
}
