/** The API's routes without dependencies, for their schemas. */
import type { z } from 'zod';
import type { ApiParts } from '../../src/api/parts.ts';
import type { Route } from '../../src/api/rest/route.ts';
import { apiRoutes } from '../../src/api/rest-api.ts';

/** A stand-in for every dependency, and for numbers. */
const anything: unknown = new Proxy(() => anything, {
  get: (_, name) => {
    if (name === 'then') return undefined;
    return name === Symbol.toPrimitive ? () => 1 : anything;
  },
});

export const ROUTES = apiRoutes(anything as ApiParts);

/** Names of the route's parameters. */
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
