/** Responses of endpoints: SDKs report the end of a handler as `{status, headers, body}`. The body becomes the output of the run; the rest is
 *  kept beside it for the client that waits for the response. */
import { isJsonObject, isShallowJson } from '../values/json.ts';
import { isHeaderValue, isOwnHeader } from '../values/response-headers.ts';

/** A response without its body, which is the output of the run. */
export interface EndpointResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** The output is the body as it is, the body as a JSON string, or null for no body. */
  body: 'json' | 'text' | 'none';
}

/** What a run that completes returns. */
export interface RunResult {
  /** JSON text. */
  output: string;
  response?: EndpointResponse;
}

const MAX_HEADERS = 50;
/** Headers beside those that start with x-. No cookies, no headers of the connection, and none by which an app could change how browsers
 *  treat the service's origin: its responses come from there. */
const ALLOWED: ReadonlySet<string> = new Set([
  'allow',
  'content-disposition',
  'content-language',
  'content-type',
  'deprecation',
  'etag',
  'idempotency-key',
  'last-modified',
  'link',
  'location',
  'ratelimit',
  'ratelimit-limit',
  'ratelimit-policy',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'sunset',
]);
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

/** The result of an endpoint's run. What is no response stays as it is.
 *  @param output JSON text of what the SDK reported */
export function resultOfEndpoint(output: string): RunResult {
  const given: unknown = JSON.parse(output);
  if (!isJsonObject(given) || !isStatus(given.status) || !['string', 'undefined'].includes(typeof given.body)) {
    return { output };
  }
  const headers = allowedHeaders(given.headers);
  const body = typeof given.body === 'string' ? given.body : '';
  const kind = kindOf(body, headers['content-type']);
  const asOutput = { json: () => body, text: () => JSON.stringify(body), none: () => 'null' };
  return { output: asOutput[kind](), response: { status: given.status, headers, body: kind } };
}

/** The body of the response, from the run's output. */
export function bodyOf({ body }: EndpointResponse, output: string): string {
  if (body === 'none') return '';
  return body === 'json' ? output : (JSON.parse(output) as string);
}

function isStatus(status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599;
}

function allowedHeaders(given: unknown): Record<string, string> {
  if (!isJsonObject(given)) return {};
  const headers: Record<string, string> = {};
  for (const [givenName, value] of Object.entries(given).slice(0, MAX_HEADERS)) {
    const name = givenName.toLowerCase();
    if ((ALLOWED.has(name) || isOwnHeader(name)) && isHeaderValue(value)) headers[name] = value;
  }
  return headers;
}

function kindOf(body: string, contentType: string | undefined): EndpointResponse['body'] {
  if (body === '') return 'none';
  return (contentType === undefined || JSON_TYPE.test(contentType)) && isJson(body) ? 'json' : 'text';
}

function isJson(text: string): boolean {
  if (!isShallowJson(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
