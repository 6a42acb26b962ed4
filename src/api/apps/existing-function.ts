import { notFound } from '../../errors.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import type { Functions } from '../../store/apps/functions.ts';

/** @throws ServiceError not_found */
export async function existingFunction(
  functions: Pick<Functions, 'read'>,
  env: string,
  id: string,
): Promise<AppFunction> {
  const fn = await functions.read(env, id);
  if (!fn) throw notFound('function', id);
  return fn;
}
