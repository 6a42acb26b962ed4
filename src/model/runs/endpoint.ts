/** Endpoints: HTTP handlers with steps. A client's request starts the run, and becomes its event. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { isJsonObject } from '../values/json.ts';

/** Name of the event that represents the request. */
export const HTTP_REQUEST = 'http/run.started';
/** Hashed ID of the operation that reports the end of the handler. It is not a step. */
export const HANDLER_END = createHash('sha1').update('complete').digest('hex');

/** Dot segments as URL parsers recognize them: also encoded, and after a backslash. */
const DOT_SEGMENT = /[\\/](?:\.|%2e){1,2}(?:[\\/]|$)/i;
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/;

/** `data` of the event. */
export const requestSchema = z.looseObject({
  domain: z.url({ protocol: /^https?$/, error: 'an http or https URL' }).max(2_048),
  method: z.string().toUpperCase().regex(METHOD, 'an HTTP method'),
  path: z.string().startsWith('/').max(2_048),
  /** ID of the function; if empty, method and path. */
  fn: z.string().max(128).nullish(),
  content_type: z
    .string()
    .max(256)
    .regex(/^[\x20-\x7e]*$/, 'a content type')
    .nullish(),
  query_params: z.string().max(8_192).nullish(),
  body: z.string().nullish(),
});

export type EndpointRequestData = z.infer<typeof requestSchema>;

/** The client's request, ready to be repeated.
 *  @throws ServiceError input_invalid */
export function endpointRequestOf(data: unknown) {
  const { success, data: request } = requestSchema.safeParse(data);
  if (!success) throw new ServiceError('input_invalid', { detail: 'the event of the run is not of a request' });
  const url = new URL(request.path, request.domain);
  // A path such as "//host" points to another host.
  if (url.origin !== new URL(request.domain).origin) {
    throw new ServiceError('input_invalid', { detail: 'the path of the request names another host' });
  }
  // An app may route "/%2e%2e/api" to a different handler than the normalized URL suggests.
  if (DOT_SEGMENT.test(request.path)) {
    throw new ServiceError('input_invalid', { detail: 'the path of the request has the segment "." or ".."' });
  }
  url.search = request.query_params ?? '';
  const { method, body, content_type } = request;
  return { url: url.href, method, body: body ?? '', contentType: content_type ?? '' };
}

/** Members of a call. No SDK runs a function on a body without an event. */
const EVENT_MEMBERS: ReadonlySet<string> = new Set(['event', 'events']);

/** Whether an SDK could mistake the JSON for a call of a function. SDKs differ in which members they require besides the event, and some
 *  ignore the case of names. */
export function isServiceMessage(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, member]) => {
    // U+017F (long s) becomes S in upper case.
    return typeof member === 'object' && EVENT_MEMBERS.has(name.toUpperCase().toLowerCase());
  });
}

const ESCAPED = /\\u([0-9a-f]{4})/gi;
const EVENT_MEMBER = /"events?"\s*:\s*[{[n]/;

/** Like isServiceMessage, for text that its signature does not cover. SDKs that parse leniently, or take the last of two equal names,
 *  must not find an event. */
export function mayHoldEvent(text: string): boolean {
  const plain = text.replace(ESCAPED, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return EVENT_MEMBER.test(plain.toUpperCase().toLowerCase());
}

/** App and function of an endpoint: its host, and its given ID or else method and path. */
export function endpointNames({ domain, method, path, fn }: EndpointRequestData): {
  app: string;
  id: string;
  name: string;
} {
  const app = new URL(domain).host.slice(0, 128);
  const name = fn || `${method} ${path}`.slice(0, 120);
  return { app, id: `${app}-${name}`, name };
}
