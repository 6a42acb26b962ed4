/** Compiles a template of signed content, such as `{timestamp}.{body}`, once per webhook. */
import { type Location, locationSchema } from '../preset.ts';
import type { ProviderRequest } from '../provider-request.ts';

/** Parts of the content in order, for one URL of the webhook. undefined if the request lacks a value. */
export type SignedContent = (
  request: ProviderRequest,
  timestamp: string | undefined,
  url: string,
) => readonly (string | Buffer)[] | undefined;

type Part = (request: ProviderRequest, timestamp: string | undefined, url: string) => string | Buffer | undefined;

const PLACEHOLDER = /\{([^{}]{1,210})\}/g;

/** Whether the content includes the webhook's URL, so that each URL must be tried. */
export function hasUrl(template: string): boolean {
  return /\{(url|path)\}/.test(template);
}

/** @throws Error for an unknown placeholder */
export function compileSigned(template: string): SignedContent {
  const parts: Part[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const before = template.slice(end, match.index);
    if (before !== '') parts.push(() => before);
    parts.push(partOf(match[1] as string));
    end = match.index + match[0].length;
  }
  const rest = template.slice(end);
  if (rest !== '') parts.push(() => rest);
  return (request, timestamp, url) => {
    const contents: (string | Buffer)[] = [];
    for (const part of parts) {
      const content = part(request, timestamp, url);
      if (content === undefined) return undefined;
      contents.push(content);
    }
    return contents;
  };
}

function partOf(name: string): Part {
  switch (name) {
    case 'body':
      return ({ body }) => body;
    case 'timestamp':
      return (_, timestamp) => timestamp;
    case 'method':
      return ({ method }) => method;
    case 'url':
      return ({ search }, _, url) => (search === '' ? url : `${url}?${search}`);
    case 'path':
      return ({ search }, _, url) => new URL(url).pathname + (search === '' ? '' : `?${search}`);
  }
  const { success } = locationSchema.safeParse(name);
  if (!success)
    throw new Error(`"{${name}}" is not known; expected {body}, {timestamp}, {url}, {path}, {method} or a location`);
  return (request) => request.valueAt(name as Location);
}
