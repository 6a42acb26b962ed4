/** Every error that this package throws, or understands when a handler throws it. */
import { parseRetryAfterMs } from './retry-after.ts';

/** An option or variable that is missing or makes no sense. The message names it and says how to set it. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export interface SendErrorDetails {
  status?: number | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  cause?: unknown;
}

/** The service refused the events, or could not be reached in any of the tries. */
export class SendError extends Error {
  override name = 'SendError';
  /** HTTP status of the last answer; undefined when there was none. */
  readonly status: number | undefined;
  /** The service's error code, such as `event_invalid`. */
  readonly code: string | undefined;
  /** Finds the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(message: string, { status, code, requestId, cause }: SendErrorDetails = {}) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** Throw it in a handler to fail the run for good: no retry would help. */
export class NonRetriableError extends Error {
  override name = 'NonRetriableError';
}

/** Throw it in a handler to choose when the run is tried again. */
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

/** A request to the app that ends in an error answer before any function ran. Becomes that answer. */
export class ServeError extends Error {
  override name = 'ServeError';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
