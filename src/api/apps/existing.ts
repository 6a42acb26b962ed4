/** Looks up what a request names. */
import { orNotFound, ServiceError } from '../../errors.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import type { App, Apps } from '../../store/apps/apps.ts';
import type { Functions } from '../../store/apps/functions.ts';

/** @throws ServiceError not_found */
export async function existingApp(apps: Pick<Apps, 'read'>, env: string, name: string): Promise<App> {
  const app = await apps.read(env, name);
  if (!app) throw new ServiceError('not_found', { detail: `there is no app named "${name}"` });
  return app;
}

/** @throws ServiceError not_found */
export async function existingFunction(
  functions: Pick<Functions, 'read'>,
  env: string,
  id: string,
): Promise<AppFunction> {
  return orNotFound(await functions.read(env, id), 'function', id);
}
