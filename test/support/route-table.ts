/** The API's route table for tests, without dependencies. */
import { type AppDeps, apiRoutes } from '../../src/api/app.ts';
import type { Route } from '../../src/api/rest/route.ts';

/** A stand-in for all dependencies of the routes. */
const anything: unknown = new Proxy(() => {}, { get: () => anything });

export const routes: Route[] = apiRoutes(anything as AppDeps);

/** The route's name in docs: `GET /v1/events/:id`. */
export function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method.toUpperCase()} ${path}`;
}
