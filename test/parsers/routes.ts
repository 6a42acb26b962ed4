/** The routes of the API, with nothing behind them: their schemas are what is looked at. */
import type { z } from 'zod';
import type { Route } from '../../src/api/rest/route.ts';
import { type ApiDeps, apiRoutes } from '../../src/api/rest-api.ts';

/** Whatever is asked of it, it is that. */
const anything: unknown = new Proxy(() => anything, { get: (_, name) => (name === 'then' ? undefined : anything) });

export const ROUTES = apiRoutes({ config: anything, store: {}, transforms: anything } as ApiDeps);

/** Names of the parameters that the route knows. */
export function fieldsOf({ query }: Route): string[] {
  return Object.keys(query?.shape ?? {});
}

export function bodiesOf(routes: readonly Route[]) {
  return routes.flatMap(({ method, path, body }) => {
    if (!body) return [];
    const { shape = {} } = body.def as unknown as { shape?: Record<string, z.ZodType> };
    return [{ name: `the body of ${method.toUpperCase()} ${path}`, schema: body, fields: Object.keys(shape) }];
  });
}
