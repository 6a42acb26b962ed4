/** A provider's request as a transform is given it (spec 2.5, 4.2). */
import type { IncomingHttpHeaders } from 'node:http';
import { isShallow } from '../../model/json.ts';
import type { TransformRequest } from '../../transforms/transforms.ts';
import { isJsonType, mediaTypeOf } from '../body.ts';

const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

/** @param search the query string, with or without its question mark */
export async function toTransformRequest(
  body: Buffer,
  headers: IncomingHttpHeaders,
  search: string,
): Promise<TransformRequest> {
  const raw = body.toString('utf8');
  return {
    ...(await parseBody(body, raw, headers['content-type'])),
    headers: canonicalised(headers),
    query: search === '' ? {} : listed(new URLSearchParams(search)),
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
  return { body: mediaType === URLENCODED ? listed(new URLSearchParams(raw)) : {} };
}

function parseJson(text: string): unknown {
  try {
    const value = JSON.parse(text);
    return isShallow(value, text) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function parseMultipart(body: Buffer, contentType: string): Promise<Record<string, string[]>> {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
    const entries = await Promise.all([...form].map(async ([key, value]) => [key, await asText(value)] as const));
    return listed(entries);
  } catch {
    return {};
  }
}

/** A file's part stands for its content. */
async function asText(part: string | Blob): Promise<string> {
  return typeof part === 'string' ? part : part.text();
}

/** Every value a list, in order of appearance. Without a prototype: a field may have any name. */
function listed(entries: Iterable<readonly [string, string]>): Record<string, string[]> {
  const lists: Record<string, string[]> = Object.create(null);
  for (const [key, value] of entries) {
    const list = lists[key];
    if (list) list.push(value);
    else lists[key] = [value];
  }
  return lists;
}

/** Header names as the spec spells them: the first character and each after a hyphen upper case, all others lower. */
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
