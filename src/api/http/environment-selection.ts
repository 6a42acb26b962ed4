/** The environment that a request selects, by header or by query parameter, under either prefix (docs/events.md#selection). */
import type { IncomingHttpHeaders } from 'node:http';
import { ENV_SELECTORS, readHeader } from '../../functions/headers.ts';
import type { Context } from './router.ts';
import type { Query } from './urlencoded.ts';

const NONE: Query = Object.freeze(Object.create(null));

/** Name of the selected environment; undefined if none is selected. */
export function environmentSelection(ctx: Context): string | undefined {
  // Parsing an absent query costs as much as the rest.
  return selectionOf(ctx.req.headers, ctx.req.url?.includes('?') ? ctx.query : NONE);
}

export function selectionOf(headers: IncomingHttpHeaders, query: Query): string | undefined {
  const header = readHeader(headers, 'env');
  if (header) return header;
  if (query === NONE) return undefined;
  for (const name of ENV_SELECTORS) {
    const parameter = [query[name]].flat()[0];
    if (parameter) return parameter;
  }
  return undefined;
}
