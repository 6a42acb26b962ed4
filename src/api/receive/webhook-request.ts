/** A provider's request as a transform is given it (docs/webhooks.md#what-a-transform-gets). */
import type { IncomingHttpHeaders } from 'node:http';
import { MIMEType } from 'node:util';
import { ServiceError } from '../../errors.ts';
import { isShallow } from '../../model/values/json.ts';
import type { TransformRequest } from '../../transforms/transforms.ts';
import { isJsonType, mediaTypeOf } from '../http/body.ts';
import { type Lists, listed, MAX_FIELDS, occurrencesOf, parseFields, refuseMany } from '../http/urlencoded.ts';

const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';
/** A boundary has 70 characters at most. Reading 16 KB of white space takes a quarter of a second of the main thread. */
const CONTENT_TYPE_MAX_LENGTH = 1_024;
const PART = 'content-disposition';
/** Of all parts together, 200 for each of as many as there may be: reading 512 KB of them takes 60 ms of the main thread. */
const PART_HEADERS_MAX_BYTES = 200 * MAX_FIELDS;

/** @param search the query string, with or without its question mark
 *  @throws ServiceError too_many_fields */
export async function toTransformRequest(
  body: Buffer,
  headers: IncomingHttpHeaders,
  search: string,
): Promise<TransformRequest> {
  const raw = body.toString('utf8');
  return {
    ...(await parseBody(body, raw, headers['content-type'])),
    headers: canonicalised(headers),
    query: search === '' ? {} : parseFields(search, 'the query string'),
    raw,
  };
}

/** JSON under any content type is parsed; forms become lists of strings; what is neither is an empty object. */
async function parseBody(
  body: Buffer,
  raw: string,
  contentType: string | undefined,
): Promise<Pick<TransformRequest, 'body' | 'bodyText'>> {
  const mediaType = mediaTypeOf(contentType);
  if (mediaType === MULTIPART) return { body: await parseMultipart(body, contentType as string) };
  const json = parseJson(raw);
  // "7" or "null" may well be a form's or a text's whole body; only under its own type is such a thing JSON.
  if (json !== undefined && (isJsonType(mediaType) || (typeof json === 'object' && json !== null))) {
    return { body: json, bodyText: raw };
  }
  return { body: mediaType === URLENCODED ? parseFields(raw, 'the form') : {} };
}

function parseJson(text: string): unknown {
  try {
    const value = JSON.parse(text);
    return isShallow(value, text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @throws ServiceError too_many_fields */
async function parseMultipart(body: Buffer, contentType: string): Promise<Lists> {
  // Each part costs some hundredths of a millisecond, so they are counted first; no part goes without this header.
  const text = body.toString('latin1');
  refuseMany(occurrencesOf(PART, text.toLowerCase(), MAX_FIELDS), 'the multipart body');
  const boundary = boundaryIn(contentType);
  if (boundary === undefined) return {};
  refuseLongHeaders(text, `--${boundary}`);
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
    const entries = await Promise.all([...form].map(async ([key, value]) => [key, await asText(value)] as const));
    return listed(entries);
  } catch {
    return {};
  }
}

/** undefined: none, so that nobody can tell the parts apart */
function boundaryIn(contentType: string): string | undefined {
  if (contentType.length > CONTENT_TYPE_MAX_LENGTH) return undefined;
  try {
    return new MIMEType(contentType).params.get('boundary') || undefined;
  } catch {
    return undefined;
  }
}

/** A part's headers go from a boundary to an empty line, or to the end where there is none. @throws ServiceError too_many_fields */
function refuseLongHeaders(text: string, boundary: string): void {
  let bytes = 0;
  for (let at = text.indexOf(boundary); at !== -1; ) {
    const end = text.indexOf('\r\n\r\n', at);
    bytes += (end === -1 ? text.length : end) - at;
    if (bytes > PART_HEADERS_MAX_BYTES) {
      throw new ServiceError('too_many_fields', {
        detail: `the headers of the multipart body's parts have more than ${PART_HEADERS_MAX_BYTES} bytes; send fewer or shorter ones`,
        facts: { limit: PART_HEADERS_MAX_BYTES },
      });
    }
    at = end === -1 ? -1 : text.indexOf(boundary, end);
  }
}

/** A file's part stands for its content. */
async function asText(part: string | Blob): Promise<string> {
  return typeof part === 'string' ? part : part.text();
}

/** Canonical header names: the first character and each after a hyphen upper case, all others lower. */
export function canonicalised(headers: IncomingHttpHeaders): Record<string, string> {
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
