/** Functions behind frameworks whose routes get an object with the Fetch API's request. */
import { createFetchHandler } from './fetch.ts';
import type { ServeOptions } from './handler.ts';
import { waitUntilOf } from './wait-until.ts';

/** If the option `path` is set, other paths get a 404. @param contextsOf returns the contexts of the platform, if the framework passes them on */
export function fetchRoutes<Given extends { readonly request: Request }>(
  options: ServeOptions,
  framework: string,
  contextsOf: (given: Given) => readonly unknown[],
) {
  const handle = createFetchHandler(options, framework);
  return async (given: Given): Promise<Response> =>
    (await handle(given.request, waitUntilOf(...contextsOf(given)))) ?? new Response(null, { status: 404 });
}
