/** Responses of `/auth/…` to browsers. */
import { ServiceError } from '../../errors.ts';
import { PASSWORD_MAX, PASSWORD_MIN } from '../../model/auth/user.ts';
import { toServiceError } from '../../store/redis/connection/connection.ts';
import { type Inline, sendPage } from '../http/html-page.ts';
import type { Context } from '../http/router.ts';
import { STYLE } from './page-layout.ts';

/** Errors of an outage, which a page explains. */
const OUTAGES = ['unavailable', 'sso_unavailable'];

/** Messages for invalid form fields. Browsers check most of them before they send a form. */
const FIELDS: Readonly<Record<string, string>> = {
  email: 'Enter a whole email address, such as ada@example.com.',
  password: `Choose a password of ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`,
};

/** @throws errors that are neither a ServiceError nor an outage */
export function showError(ctx: Context, thrown: unknown, page: (error: string) => string, script?: Inline): void {
  const error = toServiceError(thrown);
  if (!(error instanceof ServiceError) || (error.status >= 500 && !OUTAGES.includes(error.code))) throw error;
  ctx.status = error.status;
  if (error.retryAfterSeconds !== undefined) ctx.set('retry-after', String(error.retryAfterSeconds));
  sendPage(ctx, page(inWords(error)), STYLE, script);
}

function inWords({ code, facts, message }: ServiceError): string {
  if (code !== 'input_invalid') return message;
  return FIELDS[String(facts?.field)] ?? 'Fill in the whole form.';
}

export function seeOther(ctx: Context, path: string): void {
  ctx.status = 303;
  ctx.redirect(path);
}
