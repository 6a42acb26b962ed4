/** Which environment a request selects: by header or by query parameter, under either prefix (docs/events.md#selection). */
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import { ENV_SELECTORS, readHeader } from '../../functions/headers.ts';
import type { Query } from './urlencoded.ts';

/** The environment's name as it was given; undefined when none was. */
export function environmentSelection(ctx: Context): string | undefined {
  return selectionOf(ctx.req.headers, ctx.query);
}

export function selectionOf(headers: IncomingHttpHeaders, query: Query): string | undefined {
  const inHeader = readHeader(headers, 'env');
  if (inHeader) return inHeader;
  for (const name of ENV_SELECTORS) {
    const queried = [query[name]].flat()[0];
    if (queried) return queried;
  }
  return undefined;
}
