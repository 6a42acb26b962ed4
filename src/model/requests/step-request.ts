/** Requests that a step asks the service to make: `step.fetch` (operation Gateway) and `step.ai.infer` (AIGateway). */
import { isJsonObject } from '../values/json.ts';
import { withProviderKey } from './provider.ts';

/** A request as stored, encrypted, until its response arrives. */
export interface StepRequest {
  kind: 'fetch' | 'infer';
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  /** API key of the AI provider, for an inference. */
  authKey?: string;
}

/** The step's request is invalid. The message never quotes its URL, headers or body, which may hold secrets. */
export class InvalidStepRequest extends Error {
  override name = 'InvalidRequest';
}

const MAX_URL_LENGTH = 16_384;
const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 16_384;
const MAX_KEY_LENGTH = 8_192;

/** CONNECT, TRACE and TRACK concern the connection, not the resource. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']);
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
/** Excludes line breaks, which would add a header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Connection headers, which the service writes itself. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(
  'accept-encoding connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/** @param opts of the operation
 *  @throws InvalidStepRequest */
export function toFetchRequest(opts: Readonly<Record<string, unknown>>): StepRequest {
  const { url, headers } = { url: urlIn(opts.url), headers: headersIn(opts.headers) };
  const method = typeof opts.method === 'string' && opts.method !== '' ? opts.method.toUpperCase() : 'GET';
  if (!METHODS.has(method)) throw new InvalidStepRequest(`the method is none of ${[...METHODS].join(', ')}`);
  return { kind: 'fetch', url, method, ...withBody(headers, opts.body) };
}

/** @param opts of the operation
 *  @throws InvalidStepRequest */
export function toInferenceRequest(opts: Readonly<Record<string, unknown>>): StepRequest {
  const headers = headersIn(opts.headers);
  const url = urlIn(opts.url);
  const authKey = opts.auth_key ?? '';
  if (typeof authKey !== 'string' || authKey.length > MAX_KEY_LENGTH || !HEADER_VALUE.test(authKey)) {
    throw new InvalidStepRequest('auth_key is not a string that a header can hold');
  }
  const request = withProviderKey({ url, headers, format: String(opts.format ?? ''), authKey });
  return {
    kind: 'infer',
    method: 'POST',
    url: request.url,
    ...withBody(request.headers, withoutStream(opts.body)),
    ...(authKey !== '' && { authKey }),
  };
}

/** A step has one result, so a streamed response cannot be one. */
function withoutStream(body: unknown): unknown {
  return isJsonObject(body) && body.stream === true ? { ...body, stream: false } : body;
}

function urlIn(value: unknown): string {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH || !URL.canParse(value)) {
    throw new InvalidStepRequest(`its URL is missing, invalid, or longer than ${MAX_URL_LENGTH} characters`);
  }
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InvalidStepRequest('its URL begins with neither http: nor https:');
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidStepRequest('its URL contains a password; send it in the authorization header');
  }
  url.hash = '';
  return url.href;
}

function headersIn(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw new InvalidStepRequest('its headers are not an object');
  const entries = Object.entries(value).filter(([, text]) => text !== undefined && text !== null);
  let bytes = 0;
  const headers: Record<string, string> = {};
  for (const [name, text] of entries) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name)) throw new InvalidStepRequest('a header has an invalid name');
    if (typeof text !== 'string' || !HEADER_VALUE.test(text)) {
      throw new InvalidStepRequest(`the header ${lower} has a value that a header cannot hold, such as a line break`);
    }
    bytes += name.length + text.length;
    if (!CONNECTION_HEADERS.has(lower)) headers[lower] = text;
  }
  if (entries.length > MAX_HEADERS || bytes > MAX_HEADER_BYTES) {
    throw new InvalidStepRequest(
      `it has more than ${MAX_HEADERS} headers, or more than ${MAX_HEADER_BYTES} bytes of them`,
    );
  }
  return headers;
}

function withBody(headers: Record<string, string>, body: unknown): Pick<StepRequest, 'headers' | 'body'> {
  // The official Go SDK sends '' for a request without a body.
  if (body === undefined || body === null || body === '') return { headers };
  if (typeof body === 'string') return { headers, body };
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** The origin only: path and query may contain secrets. */
export function originOf({ url }: Pick<StepRequest, 'url'>): string {
  return new URL(url).origin;
}
