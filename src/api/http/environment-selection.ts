/** The environment that a request selects, by header or by query parameter, under either prefix (docs/events.md#selection). */
import type { IncomingHttpHeaders } from 'node:http';
import { ENV_SELECTORS, readHeader } from '../../functions/headers.ts';
import type { Context } from './router.ts';
import type { Query } from './urlencoded.ts';

/** Name of the selected environment; undefined: none. */
export function environmentSelection(ctx: Context): string | undefined {
  return selectionOf(ctx.req.headers, ctx.query);
}

export function selectionOf(headers: IncomingHttpHeaders, query: Query): string | undefined {
  const header = readHeader(headers, 'env');
  if (header) return header;
  for (const name of ENV_SELECTORS) {
    const parameter = [query[name]].flat()[0];
    if (parameter) return parameter;
  }
  return undefined;
}
