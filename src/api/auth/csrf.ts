/** Whether a request that a browser sends by itself, with the cookie that it holds, comes from a page of this service. Browsers say so in
 *  headers that no page can set. */
import type { Context } from 'koa';
import { ServiceError } from '../../errors.ts';
import { isJsonType, mediaTypeOf } from '../http/body.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isSafeMethod(ctx: Context): boolean {
  return SAFE_METHODS.has(ctx.method);
}

/** @throws ServiceError origin_untrusted */
export function requireSameOrigin(ctx: Context, publicUrl: string | undefined): void {
  if (!isSameOrigin(ctx, publicUrl)) throw untrusted('it must come from a page of this service');
}

/** Of a request with a session to the API: its own origin, and a body that no form can send.
 *  @throws ServiceError origin_untrusted */
export function requireOwnScript(ctx: Context, publicUrl: string | undefined): void {
  requireSameOrigin(ctx, publicUrl);
  const mediaType = mediaTypeOf(ctx.get('content-type'));
  if (mediaType !== '' && !isJsonType(mediaType)) throw untrusted(`got "${mediaType}"; send application/json`);
}

export function isSameOrigin(ctx: Context, publicUrl: string | undefined): boolean {
  const origin = ctx.get('origin');
  if (origin === '') return ctx.get('sec-fetch-site') === 'same-origin';
  return (
    origin === `${ctx.protocol}://${ctx.host}` || (publicUrl !== undefined && origin === new URL(publicUrl).origin)
  );
}

function untrusted(detail: string): ServiceError {
  return new ServiceError('origin_untrusted', { detail });
}
