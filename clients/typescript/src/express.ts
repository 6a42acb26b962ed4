/** Functions in an Express app: `app.use('/api/service', serve({ client, functions }))`. Put it before a body parser,
 *  if you can: `express.json()` takes no more than 100 kB unless told otherwise. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServeOptions } from './handler.ts';
import { createNodeHandler } from './node-handler.ts';

export type { ServeOptions };

/** With the option `path`, requests to other paths go on to the next handler. */
export function serve(options: ServeOptions) {
  const handle = createNodeHandler(options, 'express');
  return async (req: IncomingMessage, res: ServerResponse, next: () => void): Promise<void> => {
    if (!(await handle(req, res))) next();
  };
}
