/** Functions on Bun: `Bun.serve({ routes: { '/api/service': serve({ client, functions }) } })`, or as `fetch` of a server. */
import { createFetchHandler } from './fetch.ts';
import type { ServeOptions } from './handler.ts';

export type { ServeOptions };

/** If the option `path` is set, other paths get a 404. */
export function serve(options: ServeOptions): (request: Request) => Promise<Response> {
  const handle = createFetchHandler(options, 'bun');
  return async (request) => (await handle(request)) ?? new Response(null, { status: 404 });
}
