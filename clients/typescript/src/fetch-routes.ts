/** Functions behind frameworks whose routes get an object with the Fetch API's request. */
import { createFetchHandler } from './fetch.ts';
import type { ServeOptions } from './handler.ts';

/** With the option `path`, other paths get a 404. */
export function fetchRoutes(options: ServeOptions, framework: string) {
  const handle = createFetchHandler(options, framework);
  return async ({ request }: { readonly request: Request }): Promise<Response> =>
    (await handle(request)) ?? new Response(null, { status: 404 });
}
