/** A sample request to run a transform on. */
import type { LoggedRequestDetails } from '../../../api/types.ts';

export interface Sample {
  /** Exactly as the provider sends it. */
  body: string;
  /** Names in any case: the service canonicalizes them. */
  headers: Record<string, string>;
  /** The query string, without its question mark. */
  query: string;
}

/** Transport headers, which transforms do not use. */
const TRANSPORT_HEADERS = /^(?:connection|content-length|host|accept-encoding|transfer-encoding|x-forwarded-.*|via)$/i;

export function sampleOfRequest({ headers, query, body }: LoggedRequestDetails): Sample {
  const kept = Object.entries(headers).filter(([name]) => !TRANSPORT_HEADERS.test(name));
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return {
    body: body === null ? '' : body.encoding === 'utf8' ? body.content : atob(body.content),
    headers: Object.fromEntries(kept.map(([name, value]) => [canonicalName(name), [value].flat().join(', ')])),
    query: new URLSearchParams(pairs).toString(),
  };
}

/** The canonical spelling that transforms see (docs/transforms.md#what-a-transform-gets). */
export function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(^|-)(\w)/g, (_, start: string, first: string) => start + first.toUpperCase());
}

/** One header per line. */
export function headerLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** Ignores lines without a colon, which are incomplete. Joins the values of repeated names. */
export function parseHeaderLines(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = canonicalName(line.slice(0, colon).trim());
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/** Values as lists, like `queryParams`. */
export function parseQuery(query: string): Record<string, string[]> {
  const params = new URLSearchParams(query);
  return Object.fromEntries([...new Set(params.keys())].map((name) => [name, params.getAll(name)]));
}

export function contentTypeOf({ headers }: Sample): string {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type');
  return (found?.[1] ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** `evt`, for completions. undefined: the body cannot be parsed. */
export function parsedBody(sample: Sample): unknown {
  if (contentTypeOf(sample) === 'application/x-www-form-urlencoded') return parseQuery(sample.body);
  try {
    return JSON.parse(sample.body);
  } catch {
    return undefined;
  }
}
