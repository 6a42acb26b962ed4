/** API client. The session cookie authenticates; a header selects the environment. */
import { parseExact, stringifyExact } from '../lib/exact-json.ts';
import type { StopMetadata } from '../lib/stop.ts';

export const PRODUCTION = 'production';
/** A 401 that is not of the session: a webhook request that is run again; a wrong current password; a wrong code or passkey. */
const NOT_OF_SESSION = ['verification_failed', 'sign_in_failed', 'second_factor_invalid'];

/** An error response (docs/errors.md), or no response at all. */
export class ApiError extends Error {
  /** 0: no response. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** Other fields of the response, such as the console of a failed transform. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    status: number,
    code: string,
    requestId?: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.details = details;
  }
}

export interface Metadata extends StopMetadata {
  fetched_at: string;
  /** Cursor of the next page; absent on the last. */
  cursor?: string;
  /** Lines that were left out of the log of a run. */
  dropped?: number;
}

export interface ApiResponse<T> {
  data: T;
  metadata: Metadata;
}

export type Query = Record<string, string | number | boolean | undefined>;

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  env?: string;
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

/** @param path such as `/v1/events`
 *  @throws ApiError */
export async function callApi<T>(
  path: string,
  { method = 'GET', env, query = {}, body, signal }: RequestOptions = {},
): Promise<ApiResponse<T>> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (env && env !== PRODUCTION) headers['x-service-env'] = env;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const init: RequestInit = { method, headers, credentials: 'same-origin' };
  if (body !== undefined) init.body = stringifyExact(body);
  if (signal) init.signal = signal;
  const response = await fetch(`${path}${queryString(query)}`, init).catch((error: Error) => {
    if (error.name === 'AbortError') throw error;
    throw new ApiError('Cannot reach the service', 0, 'unreachable');
  });
  const text = await response.text();
  const parsed = text === '' ? {} : tryParse(text);
  if (response.ok) return parsed as ApiResponse<T>;
  const { error, code, ...details } = parsed as { error?: string; code?: string };
  if (response.status === 401 && !NOT_OF_SESSION.includes(code ?? '')) redirectToSignIn();
  const requestId = response.headers.get('x-request-id') ?? undefined;
  throw new ApiError(
    error ?? `The service responded with status ${response.status}`,
    response.status,
    code ?? 'unknown',
    requestId,
    details,
  );
}

export function queryString(query: Query): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))}`;
}

function tryParse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return {};
  }
}

let redirecting = false;
// The browser's back button may restore this page from its cache.
window.addEventListener('pageshow', () => {
  redirecting = false;
});

/** Call when the page itself goes to sign-in: a request that is rejected meanwhile must not navigate. */
export function leaveForSignIn(): void {
  redirecting = true;
}

/** The session has ended: sign-in leads back here. Of several 401s only the first redirects; another would abort that navigation. */
function redirectToSignIn(): void {
  if (redirecting) return;
  redirecting = true;
  const { pathname, search } = window.location;
  window.location.assign(`/sign-in?next=${encodeURIComponent(pathname + search)}`);
}
