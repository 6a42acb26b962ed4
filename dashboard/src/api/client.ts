/** Asking the service's API. The session cookie goes along by itself; the environment is named in a header. */
import { parseExact, stringifyExact } from '../lib/exact-json.ts';

export const PRODUCTION = 'production';

/** An answer that was not a success, in the service's own words (docs/errors.md), or no answer at all. */
export class ApiError extends Error {
  /** 0: the service was not reached. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** What else the answer tells, such as the console of a transform that failed. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    status: number,
    code: string,
    requestId?: string,
    facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.details = facts;
  }
}

export interface Metadata {
  fetched_at: string;
  /** Asks for the next page; absent on the last. */
  cursor?: string;
}

export interface ApiResponse<T> {
  data: T;
  metadata: Metadata;
}

export type Query = Record<string, string | number | boolean | undefined>;

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
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
  const answer = await fetch(`${path}${queryString(query)}`, init).catch((error: Error) => {
    if (error.name === 'AbortError') throw error;
    throw new ApiError('The service could not be reached', 0, 'unreachable');
  });
  if (answer.status === 401) redirectToSignIn();
  const text = await answer.text();
  const parsed = text === '' ? {} : tryParse(text);
  if (answer.ok) return parsed as ApiResponse<T>;
  const { error, code, ...facts } = parsed as { error?: string; code?: string };
  const requestId = answer.headers.get('x-request-id') ?? undefined;
  throw new ApiError(
    error ?? `The service answered ${answer.status}`,
    answer.status,
    code ?? 'unknown',
    requestId,
    facts,
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
// Whoever comes back by the browser's own button finds the page as it was left.
window.addEventListener('pageshow', () => {
  redirecting = false;
});

/** The session has ended: the sign-in page brings back here. Of the many requests of a page that are refused at once the first one
 *  leads there: each further one would break off what the one before it had begun. */
function redirectToSignIn(): void {
  if (redirecting) return;
  redirecting = true;
  const { pathname, search } = window.location;
  window.location.assign(`/sign-in?next=${encodeURIComponent(pathname + search)}`);
}
