/** Functions on Deno: `Deno.serve(serve({ client, functions, path: '/api/service' }))`. */
import { createFetchHandler } from './fetch.ts';
import type { ServeOptions } from './handler.ts';

export type { ServeOptions };

/** If the option `path` is set, other paths get a 404. */
export function serve(options: ServeOptions): (request: Request) => Promise<Response> {
  const handle = createFetchHandler(options, 'deno');
  return async (request) => (await handle(request)) ?? new Response(null, { status: 404 });
}
