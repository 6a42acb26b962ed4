/** Answers of `/auth/…` to browsers. */
import { ServiceError } from '../../errors.ts';
import { toServiceError } from '../../store/redis/connection.ts';
import { type Inline, sendPage } from '../http/html-page.ts';
import type { Context } from '../http/router.ts';
import { STYLE } from './page-layout.ts';

/** Errors of an outage, which a page explains. */
const OUTAGES = ['unavailable', 'sso_unavailable'];

/** @throws errors that are neither a ServiceError nor an outage */
export function showError(ctx: Context, thrown: unknown, page: (error: string) => string, script?: Inline): void {
  const error = toServiceError(thrown);
  if (!(error instanceof ServiceError) || (error.status >= 500 && !OUTAGES.includes(error.code))) throw error;
  ctx.status = error.status;
  if (error.retryAfterSeconds !== undefined) ctx.set('retry-after', String(error.retryAfterSeconds));
  sendPage(ctx, page(error.message), STYLE, script);
}

export function seeOther(ctx: Context, path: string): void {
  ctx.status = 303;
  ctx.redirect(path);
}
