/** Reads JSON bodies of the REST API and of Bull Board into `ctx.state.body`. */
import { parse } from '@hapi/bourne';
import { ServiceError } from '../../errors.ts';
import { isJsonType, mediaTypeOf, readBody } from './body.ts';
import type { Middleware } from './router.ts';

/** Leaves bodies of other types unread, and rejects members named `__proto__`.
 *  @throws ServiceError body_too_large, body_not_json, content_encoding_unsupported */
export function readJson(limitBytes: number): Middleware {
  // Without a byte order mark, which some senders write.
  const decoder = new TextDecoder();
  return async (ctx, next) => {
    if (isJsonType(mediaTypeOf(ctx.get('content-type')))) {
      ctx.state.body = parseJson(decoder.decode(await readBody(ctx.req, limitBytes)), parse);
    }
    await next();
  };
}

/** @returns undefined for an empty body
 *  @throws ServiceError body_not_json */
export function parseJson(text: string, parser: (text: string) => unknown): unknown {
  if (text === '') return undefined;
  try {
    return parser(text);
  } catch (error) {
    throw new ServiceError('body_not_json', { detail: (error as Error).message, cause: error });
  }
}
