/** The fields of a request to `/auth/…`, which HTML forms and programs both send. */
import { ServiceError } from '../../errors.ts';
import { describeType, isJsonType, mediaTypeOf, parseJson, readBody } from '../http/body.ts';
import type { Context } from '../http/router.ts';
import { type Lists, parseFields } from '../http/urlencoded.ts';
import { requireSameOrigin } from './csrf.ts';

const MAX_BYTES = 16_384;
const FORM = 'application/x-www-form-urlencoded';

/** HTML forms get a page as their response, programs get JSON. */
export function isForm(ctx: Context): boolean {
  return mediaTypeOf(ctx.get('content-type')) === FORM;
}

/** @throws ServiceError origin_untrusted for a form or a script of another site
 *  @throws ServiceError content_type_unsupported, body_not_json, body_too_large, body_invalid */
export async function readFields(ctx: Context, publicUrl: string | undefined): Promise<unknown> {
  const mediaType = mediaTypeOf(ctx.get('content-type'));
  if (isForm(ctx) || ctx.get('origin') !== '') requireSameOrigin(ctx, publicUrl);
  if (!isForm(ctx) && !isJsonType(mediaType)) {
    throw new ServiceError('content_type_unsupported', {
      detail: `got ${describeType(mediaType)}; send application/json`,
    });
  }
  const text = (await readBody(ctx.req, MAX_BYTES)).toString('utf8');
  return isForm(ctx) ? lastValues(parseFields(text, 'the form')) : parseJson(text);
}

function lastValues(lists: Lists): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.at(-1)]));
}
