/** The catalogue of everything that can go wrong for a caller: code, HTTP status, public message.
 *  docs/errors.md says what to do about each; a test holds the two equal. */
export const CATALOGUE = {
  body_missing: [400, 'The request has no body'],
  body_invalid: [400, 'The body could not be read'],
  body_not_json: [400, 'The body is not valid JSON'],
  body_too_large: [413, 'The body is larger than this key allows'],
  content_type_unsupported: [415, 'The content type is not supported here'],
  content_encoding_unsupported: [415, 'The content encoding is not supported here'],
  credentials_invalid: [401, 'The credentials are missing or wrong'],
  environment_archived: [403, 'The environment is archived'],
  environment_mismatch: [403, 'The key belongs to another environment'],
  environment_unknown: [404, 'There is no such environment'],
  event_invalid: [400, 'An event of the request is not valid, so none was accepted'],
  input_invalid: [400, 'The input is not valid'],
  internal: [500, 'Something went wrong in the service'],
  key_unknown: [401, 'The key in the path is not known'],
  method_not_allowed: [405, 'The method is not supported here'],
  not_found: [404, 'There is nothing here'],
  registration_invalid: [400, 'The app cannot be registered'],
  app_unreachable: [400, 'The app did not answer as an app does'],
  run_ended: [409, 'The run has ended'],
  seed_invalid: [400, 'The event-id-seed header is not valid'],
  transform_failed: [400, 'The transform did not make an event'],
  transform_invalid: [400, 'The transform cannot be compiled'],
  transform_quarantined: [503, 'The transform was stopped too often and rests for a while'],
  overloaded: [503, 'The service is busy'],
  unavailable: [503, 'The service cannot reach its store'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof CATALOGUE;

export interface ErrorOptions {
  /** Completes the public message: what was wrong, what was expected, how to mend it. */
  detail?: string;
  /** Further facts for programs, added to the answer as they are. */
  facts?: Record<string, unknown>;
  /** Becomes the `retry-after` header. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** An error that a caller may be told about. Made where the cause is known; answered by the API's one error funnel. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly facts: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, { detail, facts, retryAfterSeconds, cause }: ErrorOptions = {}) {
    const [status, message] = CATALOGUE[code];
    super(detail ? `${message}: ${detail}` : `${message}.`, { cause });
    this.code = code;
    this.status = status;
    this.facts = facts;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
