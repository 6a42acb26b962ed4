/** Every error that this package throws, or understands when a handler throws it. */
import { parseRetryAfterMs } from './retry-after.ts';
import { type ErrorOnTheWire, reviveError } from './wire-error.ts';

/** An option or variable that is missing or makes no sense. The message names it and says how to set it. */
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

/** The service refused the events, or could not be reached in any of the tries. */
export class SendError extends Error {
  override name = 'SendError';
  /** HTTP status of the last answer; undefined when there was none. */
  readonly status: number | undefined;
  /** The service's error code, such as `event_invalid`; or `timeout`, `aborted`, `body_too_large` from here. */
  readonly code: string | undefined;
  /** Finds the request in the service's log. */
  readonly requestId: string | undefined;
  /** Of a send that took several requests: the IDs of the events accepted, which are the first ones of it. */
  readonly acceptedIds: readonly string[];
  /** `send(events, { seed })` with the same events stores none of them twice, whatever had arrived. */
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

/** Throw it in a handler to fail the run for good, or in a step to fail that: no retry would help. */
export class NonRetriableError extends Error {
  override name = 'NonRetriableError';
}

/** Throw it in a handler or a step to choose when that is tried again. */
export class RetryAfterError extends Error {
  override name = 'RetryAfterError';
  readonly retryAfterSeconds: number;

  /** @param delay milliseconds; or a Date; or what a `retry-after` header says: seconds or a date, as a string.
   *  @throws TypeError when the delay is none of these */
  constructor(message: string, delay: number | string | Date, options?: ErrorOptions) {
    super(message, options);
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
  /** Where in the event's data. */
  path: readonly PropertyKey[];
}

/** An event that its schema refuses, or that has none. Nothing of the send was sent. */
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

/** A webhook that did not come from its provider, or too long ago: fails the run for good. */
export class WebhookVerificationError extends NonRetriableError {
  override name = 'WebhookVerificationError';
}

/** A step that has failed for good, thrown where it is awaited: catch it, and the function goes on.
 *  Uncaught, it fails the run: the step has had its retries.
 *  It has the name and message of what the step threw; its `cause` has the stack too. */
export class StepError extends Error {
  /** The step's ID, numbered when it repeats. */
  readonly stepId: string;

  constructor(stepId: string, error: Partial<ErrorOnTheWire>) {
    super(error.message ?? `The step "${stepId}" failed`, { cause: reviveError(error) });
    this.name = error.name ?? 'StepError';
    this.stepId = stepId;
  }
}

/** A request to the app that ends in an error answer before any function ran. Becomes that answer. */
export class ServeError extends Error {
  override name = 'ServeError';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
