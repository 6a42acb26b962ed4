/** The catalogue of everything that can go wrong for a caller: code, HTTP status, public message.
 *  docs/errors.md says what to do about each; a test holds the two equal. */
export const CATALOGUE = {
  address_blocked: [400, 'The service does not call this address'],
  access_denied: [403, 'The credentials do not allow this'],
  backlog_full: [429, 'Too much waits to be done already'],
  body_missing: [400, 'The request has no body'],
  body_invalid: [400, 'The body could not be read'],
  body_not_json: [400, 'The body is not valid JSON'],
  body_too_large: [413, 'The body is larger than this key allows'],
  content_type_unsupported: [415, 'The content type is not supported here'],
  content_encoding_unsupported: [415, 'The content encoding is not supported here'],
  credentials_invalid: [401, 'The credentials are missing or wrong'],
  email_taken: [409, 'There is a user with this email address already'],
  environment_archived: [403, 'The environment is archived'],
  environment_deleting: [409, 'The environment is being deleted'],
  environment_exists: [409, 'There is such an environment already'],
  environment_mismatch: [403, 'The key belongs to another environment'],
  environment_missing: [400, 'The request does not say which environment it is for'],
  environment_unknown: [404, 'There is no such environment'],
  event_invalid: [400, 'An event of the request is not valid, so none was accepted'],
  event_refused: [403, 'The key does not take events of this name'],
  event_gone: [409, 'The event is no longer stored'],
  function_archived: [409, 'The function is no longer registered'],
  input_invalid: [400, 'The input is not valid'],
  internal: [500, 'Something went wrong in the service'],
  ip_refused: [403, "The sender's address is not let in"],
  key_unknown: [401, 'The key in the path is not known'],
  last_admin: [409, 'There must be an admin who can sign in'],
  link_invalid: [400, 'The link is not valid, or not any more'],
  memory_short: [503, 'The service is short of memory'],
  method_not_allowed: [405, 'The method is not supported here'],
  not_found: [404, 'There is nothing here'],
  origin_untrusted: [403, 'The request did not come from a page of this service'],
  quota_exceeded: [403, 'A limit of this service is reached'],
  registration_invalid: [400, 'The app cannot be registered'],
  app_unreachable: [400, 'The app did not answer as an app does'],
  run_active: [409, 'The run has not ended'],
  run_not_waiting: [409, 'The run is not waiting for a try'],
  run_ended: [409, 'The run has ended'],
  seed_invalid: [400, 'The event-id-seed header is not valid'],
  sign_in_failed: [401, 'The email address or the password is wrong'],
  signing_key_given: [409, 'The signing key is given by a setting'],
  too_many_fields: [400, 'The request has too many fields'],
  too_many_attempts: [429, 'There were too many attempts to sign in'],
  transform_failed: [400, 'The transform did not make an event'],
  transform_invalid: [400, 'The transform cannot be compiled'],
  transform_quarantined: [503, 'The transform was stopped too often and rests for a while'],
  webhook_paused: [503, 'The webhook is paused'],
  overloaded: [503, 'The service is busy'],
  unavailable: [503, 'The service cannot reach its store'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof CATALOGUE;

/** What is taken in may be refused with these for a while. */
export const NOT_NOW = ['overloaded', 'memory_short', 'backlog_full'] as const satisfies ErrorCode[];

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
