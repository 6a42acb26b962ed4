/** Catalog of all errors that the API returns: code, HTTP status, message. docs/errors.md explains how to handle each; a test compares
 *  the two. */
export const CATALOGUE = {
  address_blocked: [400, 'The service does not connect to this address'],
  access_denied: [403, 'The credentials do not permit this request'],
  api_rate_exceeded: [429, 'The API key or user sends too many requests'],
  archive_unavailable: [503, 'The archive is unavailable'],
  backlog_full: [429, 'The job backlog is full'],
  body_missing: [400, 'The request has no body'],
  body_invalid: [400, 'The body cannot be read'],
  body_not_json: [400, 'The body is not valid JSON'],
  body_too_large: [413, 'The body exceeds the size limit'],
  call_superseded: [409, 'Another call continues the run'],
  clock_moving: [409, 'The clock is being moved'],
  clock_on_cluster: [403, 'The clock of a service on a Redis Cluster cannot be moved'],
  connect_gateway_closing: [503, 'The gateway is shutting down'],
  content_type_unsupported: [415, 'The content type is not supported'],
  content_encoding_unsupported: [415, 'The content encoding is not supported'],
  credentials_invalid: [401, 'The credentials are missing or wrong'],
  endpoint_origin_unknown: [403, 'The endpoint is at an unknown origin'],
  dev_mode_only: [403, 'The service does this in dev mode only'],
  email_taken: [409, 'A user with this email address already exists'],
  environment_archived: [403, 'The environment is archived'],
  environment_changed: [409, 'The environment is no longer the one that the request was for'],
  environment_deleting: [409, 'The environment is being deleted'],
  environment_exists: [409, 'An environment with this name already exists'],
  environment_mismatch: [403, 'The key belongs to another environment'],
  environment_missing: [400, 'The request does not select an environment'],
  environment_unknown: [404, 'The environment does not exist'],
  event_invalid: [400, 'An event is invalid, so none was accepted'],
  event_refused: [403, 'The key does not accept events with this name'],
  event_gone: [409, 'The event is no longer stored'],
  feature_unsupported: [501, 'The service does not have this feature'],
  function_archived: [409, 'The function is no longer registered'],
  function_idempotent: [409, 'The function has run for this idempotency key in the last 24 hours'],
  function_rate_limited: [429, 'The function is rate limited'],
  function_singleton: [409, 'Another run of the function is active'],
  idempotency_key_in_use: [409, 'A request with this idempotency key is in progress'],
  idempotency_key_reused: [422, 'The idempotency key was used for another request'],
  idempotency_response_gone: [409, 'The request was carried out, and its response was not kept'],
  input_invalid: [400, 'The input is invalid'],
  internal: [500, 'The service had an internal error'],
  ip_refused: [403, 'The key does not accept requests from this address'],
  key_unknown: [401, 'The key in the path is unknown'],
  lane_not_stopped: [409, 'No failed run stops the lane'],
  last_admin: [409, 'At least one admin must be able to sign in'],
  link_invalid: [400, 'The link is invalid or has expired'],
  memory_short: [503, 'The service is low on memory'],
  method_not_allowed: [405, 'The method is not supported'],
  not_found: [404, 'Not found'],
  origin_untrusted: [403, 'The request has an untrusted origin'],
  quota_exceeded: [403, 'A quota is exceeded'],
  rate_exceeded: [429, 'Too many messages at once'],
  registration_held: [409, 'The registration waits until somebody confirms it'],
  registration_invalid: [400, 'The app cannot be registered'],
  app_unreachable: [400, 'The app did not respond as expected'],
  replay_ended: [409, 'The replay has ended'],
  run_active: [409, 'The run is still active'],
  run_not_waiting: [409, 'The run is not waiting for a retry'],
  run_not_paused: [409, 'The run is not paused'],
  run_ended: [409, 'The run has ended'],
  sdk_unsupported: [400, 'The SDK of the app does not support this'],
  searches_full: [429, 'Too many searches at once'],
  seed_invalid: [400, 'The event-id-seed header is invalid'],
  sign_in_failed: [401, 'The email address or password is wrong'],
  signing_key_given: [409, 'A setting defines the signing key'],
  too_many_connections: [429, 'There are too many connections'],
  started_runs_unknown: [409, 'The runs that the bulk action started are no longer known'],
  token_invalid: [401, 'The subscription token is invalid or has expired'],
  too_many_fields: [400, 'The request has too many fields'],
  too_many_attempts: [429, 'Too many attempts to sign in'],
  transform_failed: [400, 'The transform did not return an event'],
  transform_invalid: [400, 'The transform does not compile'],
  transform_quarantined: [503, 'The transform is quarantined'],
  version_unknown: [409, 'The app has no such version'],
  version_conflict: [409, 'The webhook has changed'],
  alert_channel_exists: [409, 'The alert channel exists'],
  alert_channel_in_use: [409, 'The channel is the only one of an alert rule'],
  destination_exists: [409, 'The destination exists'],
  webhook_paused: [503, 'The webhook is paused'],
  filter_failed: [400, 'The filter could not be evaluated'],
  verification_failed: [401, 'The request could not be verified'],
  verification_unavailable: [503, 'The request cannot be verified now'],
  upgrade_required: [426, 'The request must be a WebSocket handshake'],
  overloaded: [503, 'The service is overloaded'],
  unavailable: [503, 'Redis is unavailable'],
  sso_interrupted: [400, 'Single sign-on did not begin in this browser, or has ended'],
  sso_rejected: [401, 'The response of the identity provider is not accepted'],
  sso_unavailable: [503, 'The identity provider is unavailable'],
  email_unverified: [403, 'The identity provider does not confirm the email address'],
  domain_refused: [403, 'Users with this email domain may not sign in'],
  not_invited: [403, 'The user was not invited'],
  role_missing: [403, 'No group of the user has a role'],
  logout_token_invalid: [400, 'The logout token is invalid'],
  password_sign_in_off: [403, 'Password sign-in is off'],
  second_factor_required: [401, 'A second factor is required'],
  second_factor_invalid: [401, 'The code or passkey is not accepted'],
  second_factor_last: [409, 'At least one second factor is required'],
  sign_in_interrupted: [400, 'The sign-in has ended, or began in another browser'],
  passkey_unavailable: [400, 'Passkeys do not work at this address'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof CATALOGUE;

/** Errors of backpressure: any route that accepts events may temporarily return them. */
export const BACKPRESSURE_ERRORS = ['overloaded', 'memory_short', 'backlog_full'] as const satisfies ErrorCode[];

export interface ErrorOptions {
  /** Appended to the message: what happened, what was expected, what to do. */
  detail?: string;
  /** Replaces the whole message, for apps that know an error by other words. */
  message?: string;
  /** Fields for programs, added unchanged to the response. */
  facts?: Record<string, unknown>;
  /** Becomes the `retry-after` header. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** An error with a message for clients. Thrown where the cause is known; the API's error handler responds with it. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly facts: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, { detail, message, facts, retryAfterSeconds, cause }: ErrorOptions = {}) {
    const [status, standard] = CATALOGUE[code];
    super(message ?? (detail ? `${standard}: ${detail}` : `${standard}.`), { cause });
    this.code = code;
    this.status = status;
    this.facts = facts;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A field of a request is invalid.
 *  @param field its path, such as `filter.ids` */
export function invalidField(field: string, detail: string): ServiceError {
  return new ServiceError('input_invalid', { detail: `field "${field}": ${detail}`, facts: { field } });
}

/** @param what as in "event key" */
export function notFound(what: string, id: string): ServiceError {
  return new ServiceError('not_found', { detail: `there is no ${what} with the ID "${id}"` });
}

/** @param what as in "event key"
 *  @throws ServiceError not_found for undefined */
export function orNotFound<T>(value: T | undefined, what: string, id: string): T {
  if (value === undefined) throw notFound(what, id);
  return value;
}

/** Whether Postgres is down. */
export function isArchiveUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'archive_unavailable';
}
