/** Whether a request that a browser sends by itself with what it holds (a cookie, or in dev mode nothing at all) comes from a page of
 *  this service. Browsers say so in headers that no page can set. */
import type { Context } from 'koa';
import { ServiceError } from '../../errors.ts';
import { isJsonType, mediaTypeOf } from '../body.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const LOOPBACK = /^(.*\.)?localhost$|^127\.0\.0\.1$|^\[::1\]$/;

export function changesNothing(ctx: Context): boolean {
  return SAFE_METHODS.has(ctx.method);
}

/** @throws ServiceError origin_untrusted */
export function demandOwnOrigin(ctx: Context, publicUrl: string | undefined): void {
  if (!isOwnOrigin(ctx, publicUrl)) throw untrusted('it must come from a page of this service');
}

/** Of a request with a session to the API: its own origin, and a body that no form can send.
 *  @throws ServiceError origin_untrusted */
export function demandOwnScript(ctx: Context, publicUrl: string | undefined): void {
  demandOwnOrigin(ctx, publicUrl);
  const mediaType = mediaTypeOf(ctx.get('content-type'));
  if (mediaType !== '' && !isJsonType(mediaType)) throw untrusted(`got "${mediaType}"; send application/json`);
}

/** Of a request to dev mode, where everybody may do everything: pages of other hosts may not, nor pages of a name that was made to
 *  lead to this machine.
 *  @throws ServiceError origin_untrusted */
export function demandLocal(ctx: Context): void {
  if (!LOOPBACK.test(ctx.hostname)) throw untrusted(`it was sent to "${ctx.hostname}"; dev mode answers to localhost`);
  demandLocalPage(ctx);
}

/** Of a change in dev mode that a page may have sent, whatever name this machine goes by.
 *  @throws ServiceError origin_untrusted */
export function demandLocalPage(ctx: Context): void {
  const origin = ctx.get('origin');
  if (origin === '' || changesNothing(ctx)) return;
  const isLocal = URL.canParse(origin) && LOOPBACK.test(new URL(origin).hostname);
  if (!isLocal) throw untrusted(`got "${origin}"; in dev mode only pages of this machine`);
}

export function isOwnOrigin(ctx: Context, publicUrl: string | undefined): boolean {
  const origin = ctx.get('origin');
  if (origin === '') return ctx.get('sec-fetch-site') === 'same-origin';
  return (
    origin === `${ctx.protocol}://${ctx.host}` || (publicUrl !== undefined && origin === new URL(publicUrl).origin)
  );
}

function untrusted(detail: string): ServiceError {
  return new ServiceError('origin_untrusted', { detail });
}
