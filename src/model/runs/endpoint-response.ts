/** Responses of endpoints: SDKs report the end of a handler as `{status, headers, body}`. The body becomes the output of the run; status
 *  and headers are stored with it for the waiting client. */
import { isJson, isJsonObject } from '../values/json.ts';
import { isHeaderValue, isOwnHeader } from '../values/response-headers.ts';

/** A response without its body, which is the run's output. */
export interface EndpointResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** How the run's output encodes the body: unchanged (`json`), as a JSON string (`text`), or as null (`none`). */
  body: 'json' | 'text' | 'none';
}

/** Return value of a completed run. */
export interface RunResult {
  /** JSON text. */
  output: string;
  response?: EndpointResponse;
}

const MAX_HEADERS = 50;
/** Allowed headers besides headers that start with x-. Cookies, connection headers, and headers that change how browsers treat the
 *  service's origin are excluded, because the response comes from that origin. */
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

/** The result of an endpoint's run. Output that is not a response stays unchanged.
 *  @param output JSON text that the SDK reported */
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

/** Restores the response body from the run's output. */
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
