/** JSON bodies of requests that apps send. */
import { ServiceError } from '../../errors.ts';
import { isShallowJson, MAX_DEPTH } from '../../model/values/json.ts';
import { parseJson, readBody } from '../http/body.ts';
import type { Context } from '../http/router.ts';

/** @throws ServiceError body_too_large, body_not_json, input_invalid */
export async function readJsonBody(ctx: Context, maxBytes: number): Promise<unknown> {
  return parseJsonBody(await readBody(ctx.req, maxBytes));
}

/** @throws ServiceError body_not_json, input_invalid */
export function parseJsonBody(body: Buffer): unknown {
  const text = body.toString('utf8');
  if (!isShallowJson(text)) {
    throw new ServiceError('input_invalid', { detail: `the body is nested deeper than ${MAX_DEPTH} levels` });
  }
  return parseJson(text);
}
