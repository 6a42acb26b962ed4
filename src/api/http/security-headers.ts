/** Security headers of every response, except responses to senders whose events are accepted: those are not shown as pages (receive/respond.ts).
 *  Pages relax the policy as needed (html-page.ts, dashboard.ts, board.ts). */
import type { Next } from 'koa';
import { type Context, isSecure, type Middleware } from './router.ts';

const HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // With no-referrer, browsers would also omit the origin of a form post.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
export const HSTS = 'max-age=31536000; includeSubDomains';

export function securityHeaders(publicUrl: string | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    setSecurityHeaders(ctx, publicUrl);
    await next();
    // Any response may be private. Files of the dashboard and of Bull Board set their own lifetime.
    if (!ctx.headerSent && !ctx.res.hasHeader('cache-control')) ctx.set('cache-control', 'no-store');
  };
}

export function setSecurityHeaders(ctx: Context, publicUrl: string | undefined): void {
  ctx.set(HEADERS);
  if (isSecure(ctx, publicUrl)) ctx.set('strict-transport-security', HSTS);
}
