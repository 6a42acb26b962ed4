/** Converts a provider's request into the input of a transform (docs/transforms.md#what-a-transform-gets). */
import type { IncomingHttpHeaders } from 'node:http';
import { MIMEType } from 'node:util';
import { ServiceError } from '../../errors.ts';
import { isShallowJson, tryParseShallow } from '../../model/values/json.ts';
import type { LogSummary } from '../../model/webhooks/request-log.ts';
import type { TransformRequest } from '../../transforms/transforms.ts';
import { isJsonType, mediaTypeOf } from '../http/body.ts';
import { countOf, type Lists, listsOf, MAX_FIELDS, parseFields, rejectMany } from '../http/urlencoded.ts';

const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';
/** A boundary has at most 70 characters. Parsing 16 KB of white space blocks the main thread for 250 ms. */
const CONTENT_TYPE_MAX_LENGTH = 1_024;
/** Every part of a multipart body has this header. */
const PART_HEADER = 'content-disposition';
/** Limit for all parts together: 200 bytes for each of the maximum number of parts. Parsing 512 KB of headers blocks the main thread for
 *  60 ms. */
const PART_HEADERS_MAX_BYTES = 200 * MAX_FIELDS;

export interface WebhookRequest {
  requestId: string;
  /** Unix milliseconds. */
  receivedAt: number;
  method: string;
  headers: IncomingHttpHeaders;
  /** The query string. */
  search: string;
  body: Buffer;
  /** Set if the body is larger than events may be. */
  large?: LargeRequest | undefined;
}

export interface LargeRequest {
  /** ID of the request with which the body is kept. */
  storedAs: string;
  /** Whether the body is already kept. */
  isStored: boolean;
}

/** The large body of a logged request, if it has one. */
export function largeOf({ storedBody }: Pick<LogSummary, 'storedBody'>): LargeRequest | undefined {
  return storedBody === undefined ? undefined : { storedAs: storedBody, isStored: true };
}

/** Fields of the log. A large body that is not kept counts as not read. */
export function bodyFieldsOf(body: Buffer | undefined, large: LargeRequest | undefined) {
  if (!large) return { bodyBytes: body?.length };
  return large.isStored ? { bodyBytes: body?.length, storedBody: large.storedAs } : { bodyBytes: undefined };
}

/** @param search query string, with or without its question mark
 *  @throws ServiceError too_many_fields */
export async function toTransformRequest(
  body: Buffer,
  headers: IncomingHttpHeaders,
  search: string,
): Promise<TransformRequest> {
  const raw = body.toString('utf8');
  const parsed = parseBody(body, raw, headers['content-type']);
  return {
    body: parsed instanceof Promise ? await parsed : parsed,
    headers: canonicalHeaders(headers),
    query: queryOf(search),
    raw,
  };
}

export function largeBodyRequest(
  { body, reference }: Pick<TransformRequest, 'body' | 'reference'>,
  { headers, search }: Pick<WebhookRequest, 'headers' | 'search'>,
): TransformRequest {
  return { body, headers: canonicalHeaders(headers), query: queryOf(search), raw: '', reference };
}

function queryOf(search: string): Lists {
  return search === '' ? {} : parseFields(search, 'the query string');
}

/** The body for a filter. */
export function bodyOf({ body, raw }: Pick<TransformRequest, 'body' | 'raw'>): unknown {
  if (body !== undefined) return body;
  const json = tryParseShallow(raw);
  return json === undefined ? {} : json;
}

/** Takes JSON under any content type, and forms as lists of strings; any other body is an empty object.
 *  @returns undefined if it is the raw body as JSON, which the isolate parses */
function parseBody(body: Buffer, raw: string, contentType: string | undefined): unknown {
  const mediaType = mediaTypeOf(contentType);
  if (mediaType === MULTIPART) return parseMultipart(body, contentType as string);
  if (isJsonType(mediaType)) return isShallowJson(raw) ? undefined : {};
  const json = tryParseShallow(raw);
  // A form or a text may be "7" or "null": a scalar is JSON only under a JSON content type.
  if (typeof json === 'object' && json !== null) return undefined;
  return mediaType === URLENCODED ? parseFields(raw, 'the form') : {};
}

/** @throws ServiceError too_many_fields */
async function parseMultipart(body: Buffer, contentType: string): Promise<Lists> {
  // Parsing a part takes about 10 µs, so the parts are counted first.
  const text = body.toString('latin1');
  rejectMany(countOf(PART_HEADER, text.toLowerCase(), MAX_FIELDS), 'the multipart body');
  const boundary = boundaryIn(contentType);
  if (boundary === undefined) return {};
  rejectLongHeaders(text, `--${boundary}`);
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
    const entries = await Promise.all([...form].map(async ([key, value]) => [key, await asText(value)] as const));
    return listsOf(entries);
  } catch {
    return {};
  }
}

/** undefined if there is no boundary between the parts. */
function boundaryIn(contentType: string): string | undefined {
  if (contentType.length > CONTENT_TYPE_MAX_LENGTH) return undefined;
  try {
    return new MIMEType(contentType).params.get('boundary') || undefined;
  } catch {
    return undefined;
  }
}

/** The headers of a part end at the first empty line, or at the end of the body. @throws ServiceError too_many_fields */
function rejectLongHeaders(text: string, boundary: string): void {
  let bytes = 0;
  for (let at = text.indexOf(boundary); at !== -1; ) {
    const end = text.indexOf('\r\n\r\n', at);
    bytes += (end === -1 ? text.length : end) - at;
    if (bytes > PART_HEADERS_MAX_BYTES) {
      throw new ServiceError('too_many_fields', {
        detail: `the part headers of the multipart body have more than ${PART_HEADERS_MAX_BYTES} bytes; send fewer or shorter parts`,
        facts: { limit: PART_HEADERS_MAX_BYTES },
      });
    }
    at = end === -1 ? -1 : text.indexOf(boundary, end);
  }
}

/** Files are passed as their content. */
async function asText(part: string | Blob): Promise<string> {
  return typeof part === 'string' ? part : part.text();
}

/** Header names in canonical spelling: the first letter and each letter after a hyphen in upper case, all others in lower case. */
export function canonicalHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) result[canonicalName(name)] = Array.isArray(value) ? value.join(', ') : value;
  }
  return result;
}

const canonicalNames = new Map<string, string>();
const CANONICAL_NAMES_MAX = 1_000;

function canonicalName(name: string): string {
  const known = canonicalNames.get(name);
  if (known) return known;
  const canonical = name
    .toLowerCase()
    .replace(/(^|-)(\w)/g, (_, start: string, first: string) => start + first.toUpperCase());
  if (canonicalNames.size < CANONICAL_NAMES_MAX) canonicalNames.set(name, canonical);
  return canonical;
}
