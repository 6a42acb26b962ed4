/** Compresses responses of the REST API for clients that accept it. */
import { constants } from 'node:zlib';
import type { Next } from 'koa';
import koaCompress from 'koa-compress';
import type { Context, Middleware } from './router.ts';

/** Smaller responses take one or two packets either way. */
const THRESHOLD_BYTES = 1_024;

/** The router matches paths in any case, so these do too. */
const REST_API = /^\/(?:v1\/|openapi\.json$)/i;

/** Responses that contain credentials. */
const WITH_CREDENTIALS = /^\/v1\/(?:webhooks|environments|event-keys|api-keys|users)(?:\/|$)/i;

/** Protects against BREACH: the length of a compressed response reveals its content to an attacker who chooses part of it and sees the
 *  encrypted traffic. Responses to requests that another site made the browser send, and responses with credentials, are not compressed.
 *  Live updates compress each message separately (shared-gzip.ts): they contain a payload once, so an attacker who sends events cannot
 *  have two guesses compressed with it. */
export function compressResponses(): Middleware {
  const compress = koaCompress({
    threshold: THRESHOLD_BYTES,
    filter: (type) => type === 'application/json',
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
    deflate: false,
  });
  return async (ctx: Context, next: Next) => {
    // Responses to senders and apps are short.
    if (!REST_API.test(ctx.path)) return next();
    if (isCrossSite(ctx) || WITH_CREDENTIALS.test(ctx.path) || !acceptsAny(ctx)) ctx.compress = false;
    await compress(ctx, next);
  };
}

/** Whether a stream of live updates may be compressed for the client. */
export function acceptsGzipStream(ctx: Context): boolean {
  return !isCrossSite(ctx) && ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
}

/** koa-compress fails if the client accepts no encoding, not even `identity`. Such a client gets an uncompressed response. */
function acceptsAny(ctx: Context): boolean {
  return ctx.acceptsEncodings('br', 'gzip', 'identity') !== false;
}

/** Browsers send this header with every request; a client without it is a program. */
function isCrossSite(ctx: Context): boolean {
  const site = ctx.get('sec-fetch-site');
  return site !== '' && site !== 'same-origin';
}
