/** Answers of the API, compressed for whoever takes that. */
import { constants } from 'node:zlib';
import type { Context, Middleware, Next } from 'koa';
import koaCompress from 'koa-compress';

/** Smaller ones fit into a packet or two either way. */
const THRESHOLD_BYTES = 1_024;

/** Paths are the same in capitals (the router's rule). */
const OF_API = /^\/v1\//i;

/** What holds a credential: beside it there must be nothing in the same compressed answer that a stranger has chosen. */
const WITH_CREDENTIALS = /^\/v1\/(?:webhooks|environments|event-keys|api-keys|users)(?:\/|$)/i;

/** How long a compressed answer is tells a little of what it holds to whoever chooses a part of it and reads along on the wire (BREACH).
 *  So nothing is compressed that another site made the browser ask for, with the cookie of whoever sits there, nor what holds a
 *  credential. Streams are not either: their messages would wait to be compressed. */
export function compressResponses(): Middleware {
  const compress = koaCompress({
    threshold: THRESHOLD_BYTES,
    filter: (type) => type === 'application/json',
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
    deflate: false,
  });
  return async (ctx: Context, next: Next) => {
    // Not of what senders and apps send, whose answers are short.
    if (!OF_API.test(ctx.path)) return next();
    if (isAskedByAnotherSite(ctx) || WITH_CREDENTIALS.test(ctx.path) || !takesAny(ctx)) ctx.compress = false;
    await compress(ctx, next);
  };
}

/** Whoever refuses even `identity` is answered as it is: the library fails where nothing fits. */
function takesAny(ctx: Context): boolean {
  return ctx.acceptsEncodings('br', 'gzip', 'identity') !== false;
}

/** Browsers say so of every request; whoever says nothing is a program. */
function isAskedByAnotherSite(ctx: Context): boolean {
  const site = ctx.get('sec-fetch-site');
  return site !== '' && site !== 'same-origin';
}
