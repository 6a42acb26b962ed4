/** All errors that this package throws, or handles when a handler throws them. */
import { parseRetryAfterMs } from './retry-after.ts';
import { type ErrorOnTheWire, reviveError } from './wire-error.ts';

/** A missing or invalid option or environment variable. The message names it and says how to set it. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export interface SendErrorDetails {
  status?: number | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  acceptedIds?: readonly string[] | undefined;
  seed?: string | undefined;
  cause?: unknown;
}

/** The service rejected the events, or could not be reached in any attempt. */
export class SendError extends Error {
  override name = 'SendError';
  /** HTTP status of the last response; undefined: no response. */
  readonly status: number | undefined;
  /** The service's error code, such as `event_invalid`; or the client's `timeout`, `aborted`, `body_too_large`. */
  readonly code: string | undefined;
  /** Finds the request in the service's log. */
  readonly requestId: string | undefined;
  /** IDs of the accepted events, if the send needed several requests: the first events of the send. */
  readonly acceptedIds: readonly string[];
  /** `send(events, { seed })` sends the same events again without duplicates. */
  readonly seed: string | undefined;

  constructor(message: string, details: SendErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.requestId = details.requestId;
    this.acceptedIds = details.acceptedIds ?? [];
    this.seed = details.seed;
  }
}

/** Options of an error in addition to its message. The run's error and the StepError of a step have the same fields. */
export interface ErrorDetails extends ErrorOptions {
  /** Any JSON, up to 16 KiB. */
  data?: unknown;
  code?: string | number | undefined;
}

/** Throw it in a handler or a step to fail the run or the step permanently, without retries. */
export class NonRetriableError extends Error {
  override name = 'NonRetriableError';
  readonly data: unknown;
  readonly code: string | number | undefined;

  constructor(message?: string, options: ErrorDetails = {}) {
    super(message, options);
    this.data = options.data;
    this.code = options.code;
  }
}

/** Throw it in a handler or a step to set the delay of its retry. */
export class RetryAfterError extends Error {
  override name = 'RetryAfterError';
  readonly retryAfterSeconds: number;
  readonly data: unknown;
  readonly code: string | number | undefined;

  /** @param delay milliseconds, a Date, or the value of a `retry-after` header: seconds or a date, as a string.
   *  @throws TypeError for any other delay */
  constructor(message: string, delay: number | string | Date, options: ErrorDetails = {}) {
    super(message, options);
    this.data = options.data;
    this.code = options.code;
    const delayMs = toDelayMs(delay, Date.now());
    if (delayMs === undefined || !Number.isFinite(delayMs)) {
      throw new TypeError(`RetryAfterError: ${String(delay)} is not milliseconds, a date or a retry-after header`);
    }
    this.retryAfterSeconds = Math.max(0, Math.ceil(delayMs / 1_000));
  }
}

function toDelayMs(delay: number | string | Date, nowMs: number): number | undefined {
  if (typeof delay === 'number') return delay;
  if (typeof delay === 'string') return parseRetryAfterMs(delay, nowMs);
  return delay.getTime() - nowMs;
}

export interface SchemaIssue {
  message: string;
  /** Path in the event's data. */
  path: readonly PropertyKey[];
}

/** An event does not match its schema, or has no schema. No event of the send was sent. */
export class InvalidEventError extends NonRetriableError {
  override name = 'InvalidEventError';
  readonly eventName: string;
  readonly issues: readonly SchemaIssue[];

  constructor(message: string, eventName: string, issues: readonly SchemaIssue[] = []) {
    super(message);
    this.eventName = eventName;
    this.issues = issues;
  }
}

/** A webhook that is not from its provider, or too old. Fails the run permanently. */
export class WebhookVerificationError extends NonRetriableError {
  override name = 'WebhookVerificationError';
}

/** A step that failed permanently, thrown where it is awaited. Catch it to continue the function; uncaught, it fails the run.
 *  It has the name, message, data and code of the step's error; its `cause` is that error, with its stack and its own cause. */
export class StepError extends Error {
  readonly data: unknown;
  readonly code: string | number | undefined;
  /** The step ID, numbered if it repeats. */
  readonly stepId: string;

  constructor(stepId: string, error: Partial<ErrorOnTheWire>) {
    super(error.message ?? `The step "${stepId}" failed`, { cause: reviveError(error) });
    this.name = error.name ?? 'StepError';
    this.stepId = stepId;
    this.data = error.data;
    this.code = error.code;
  }
}

/** Ends a request to the app with an error response before any function runs. */
export class ServeError extends Error {
  override name = 'ServeError';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
