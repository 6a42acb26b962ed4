/** The table of the API's routes, as a test sees it: without anything behind it. */

import type { ApiParts } from '../../src/api/parts.ts';
import type { Route } from '../../src/api/rest/route.ts';
import { apiRoutes, officialRoutes as routesOfSdks } from '../../src/api/rest-api.ts';

/** A stand-in for all dependencies of the routes. */
const anything: unknown = new Proxy(() => {}, { get: () => anything });

export const routes: Route[] = apiRoutes(anything as ApiParts);

/** Those under the URLs that users of the official SDKs know. */
export const officialRoutes: Route[] = routesOfSdks(anything as ApiParts);

/** The route's name in docs: `GET /v1/events/:id`. */
export function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method.toUpperCase()} ${path}`;
}
