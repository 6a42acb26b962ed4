/** The response to a sender or an app whose request was not rejected, shared by the fast path and the router. The
 *  response has none of the headers that only pages need. */

import { type Context, isSecure } from '../http/router.ts';
import { HSTS } from '../http/security-headers.ts';
import type { Received } from './resolve-environment.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
/** Custom responses, whose content a provider or a transform chose, come from the service's own origin, so browsers must never execute
 *  them. */
const PROTECTION = { 'content-security-policy': "default-src 'none'; sandbox" };
/** Headers set by earlier middleware that are kept. All others are written here. */
const KEPT = /^(?:vary|access-control-)/;

/** Writes status, headers and body in one call: Koa's setters cost as much as the rest of the response.
 *  @param more further headers */
export function respond(
  ctx: Context,
  publicUrl: string | undefined,
  { ids, response }: Received,
  more?: Record<string, string>,
): void {
  const status = response?.status ?? 200;
  const body = response?.body ?? JSON.stringify({ ids, status });
  const own = response ? withProtection(response.headers) : JSON_TYPE;
  write(ctx, publicUrl, { status, body, own: more ? { ...more, ...own } : own });
}

export function respondWithJson(ctx: Context, publicUrl: string | undefined, content: object): void {
  write(ctx, publicUrl, { status: 200, body: JSON.stringify(content), own: JSON_TYPE });
}

/** Headers of a custom response. */
export function withProtection(headers: Record<string, string>): Record<string, string> {
  return { ...headers, ...PROTECTION };
}

interface Written {
  status: number;
  body: string;
  /** Headers of a custom response. */
  own: Record<string, string>;
}

function write(ctx: Context, publicUrl: string | undefined, { status, body, own }: Written): void {
  const { res } = ctx;
  ctx.respond = false;
  if (res.headersSent || res.writableEnded) return;
  for (const name of res.getHeaderNames()) if (!KEPT.test(name)) res.removeHeader(name);
  const headers = [
    'x-request-id',
    ctx.state.requestId,
    'x-content-type-options',
    'nosniff',
    'cache-control',
    'no-store',
  ];
  // HTTP forbids a length with these statuses.
  if (status !== 204 && status !== 304) headers.push('content-length', String(Buffer.byteLength(body)));
  if (isSecure(ctx, publicUrl)) headers.push('strict-transport-security', HSTS);
  for (const name in own) headers.push(name, own[name] as string);
  res.writeHead(status, headers);
  res.end(body);
}
