/** Errors of runs and steps: the parts of an app's error that the service stores, within limits. */
import { type ErrorSource, readErrorSource } from './error-source.ts';

export interface RunError {
  name: string;
  message: string;
  stack?: string;
  /** A nested error, or any other value. */
  cause?: unknown;
  /** Data that a failed step returned in addition to its error. */
  data?: unknown;
  code?: string | number;
  source?: ErrorSource;
}

const MAX_LENGTH = { name: 256, message: 16_384, stack: 65_536, code: 256 } as const;
/** Maximum JSON size of a `cause` or of `data`. */
const MAX_VALUE_BYTES = 16_384;
/** Maximum lengths, for each error among the causes. */
const MAX_CAUSE_LENGTH = { message: 4_096, stack: 8_192 } as const;
/** Maximum number of nested causes kept as errors, which is what the official TypeScript SDK sends. */
const MAX_CAUSES = 5;
/** Errors are part of events, whose nesting is limited. */
const MAX_VALUE_DEPTH = 32;

/** Normalizes an app's error, whose fields may have any type.
 *  @returns an error small enough to store with every attempt; `name` and `message` have defaults */
export function toRunError(sent: Record<string, unknown>, defaultMessage: string): RunError {
  return {
    name: textOr('Error', sent.name, MAX_LENGTH.name),
    message: textOr(defaultMessage, sent.message, MAX_LENGTH.message),
    ...optionalFields(sent, MAX_CAUSES),
    ...readErrorSource(sent.source),
  };
}

/** The error as apps receive it in handlers, outputs and memos: without source lines, since the app has its code. */
export function withoutSource<E extends { source?: unknown }>({ source: _, ...error }: E): Omit<E, 'source'> {
  return error;
}

/** Shortens the error so that it can be stored with every attempt. */
export function boundedError(error: RunError): RunError {
  return toRunError({ ...error }, '');
}

/** The error exactly as sent within the limits, without defaults for missing fields. */
export function sentError(sent: Record<string, unknown>): Record<string, unknown> {
  const { name, message, ...rest } = withoutSource(toRunError(sent, ''));
  return {
    ...(typeof sent.name === 'string' && { name }),
    ...(typeof sent.message === 'string' && { message }),
    ...rest,
    ...(sent.stack === null && { stack: null }),
  };
}

function optionalFields(sent: Record<string, unknown>, causes: number): Omit<RunError, 'name' | 'message'> {
  const { stack, cause, data, code } = sent;
  return {
    ...(typeof stack === 'string' && stack !== '' && { stack: truncate(stack, MAX_LENGTH.stack) }),
    ...(cause !== undefined && cause !== null && { cause: boundedCause(cause, causes) }),
    ...(data !== undefined && data !== null && isBounded(data) && { data }),
    ...(typeof code === 'string' && { code: truncate(code, MAX_LENGTH.code) }),
    ...(typeof code === 'number' && { code }),
  };
}

/** Bounds a cause that is an error like any error, and truncates any other value that is too large. */
function boundedCause(cause: unknown, causes: number): unknown {
  if (isErrorLike(cause) && causes > 0) {
    const { name, message } = cause;
    return {
      ...(typeof name === 'string' && { name: truncate(name, MAX_LENGTH.name) }),
      message: truncate(message, MAX_CAUSE_LENGTH.message),
      ...optionalFields({ ...cause, stack: shortened(cause.stack) }, causes - 1),
    };
  }
  if (isBounded(cause)) return cause;
  return truncate(depthOf(cause) > MAX_VALUE_DEPTH ? '(nested too deeply)' : JSON.stringify(cause), 1_024);
}

function isErrorLike(value: unknown): value is Record<string, unknown> & { message: string } {
  return typeof value === 'object' && value !== null && typeof (value as RunError).message === 'string';
}

function shortened(stack: unknown): unknown {
  return typeof stack === 'string' ? truncate(stack, MAX_CAUSE_LENGTH.stack) : undefined;
}

function isBounded(value: unknown): boolean {
  return depthOf(value) <= MAX_VALUE_DEPTH && Buffer.byteLength(JSON.stringify(value)) <= MAX_VALUE_BYTES;
}

/** Depth of nesting; stops one level above the limit. */
function depthOf(value: unknown, levels = MAX_VALUE_DEPTH + 1): number {
  if (typeof value !== 'object' || value === null || levels === 0) return 0;
  let deepest = 0;
  for (const child of Object.values(value)) deepest = Math.max(deepest, depthOf(child, levels - 1));
  return deepest + 1;
}

function textOr(fallback: string, value: unknown, length: number): string {
  return truncate(typeof value === 'string' ? value : fallback, length);
}

function truncate(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters in total)`;
}
