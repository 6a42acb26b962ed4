/** Functions in a Next.js app, with either router.
 *
 *      // app/api/service/route.ts
 *      export const { GET, POST, PUT } = serve({ client, functions });
 *
 *      // pages/api/service.ts
 *      export default servePages({ client, functions });
 *      export const config = { api: { bodyParser: false } }; */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createFetchHandler } from './fetch.ts';
import type { ServeOptions } from './handler.ts';
import { createNodeHandler } from './node-handler.ts';

export type { ServeOptions };

export type RouteHandler = (request: Request) => Promise<Response>;

/** For the app router: export these from the route file. */
export function serve(options: ServeOptions): { GET: RouteHandler; POST: RouteHandler; PUT: RouteHandler } {
  const handle = createFetchHandler(options, 'nextjs');
  const answer: RouteHandler = async (request) => (await handle(request)) ?? new Response(null, { status: 404 });
  return { GET: answer, POST: answer, PUT: answer };
}

/** For the pages router. Turn off its body parser, which accepts only 1 MB. */
export function servePages(options: ServeOptions): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const handle = createNodeHandler(options, 'nextjs');
  return async (req, res) => {
    if (!(await handle(req, res))) res.writeHead(404).end();
  };
}
