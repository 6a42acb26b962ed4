/** Functions in an Express app: `app.use('/api/service', serve({ client, functions }))`. Preferably before a body
 *  parser: `express.json()` accepts only 100 kB by default. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServeOptions } from './handler.ts';
import { createNodeHandler } from './node-handler.ts';

export type { ServeOptions };

/** If the option `path` is set, other paths reach the next handler. */
export function serve(options: ServeOptions) {
  const handle = createNodeHandler(options, 'express');
  return async (req: IncomingMessage, res: ServerResponse, next: () => void): Promise<void> => {
    if (!(await handle(req, res))) next();
  };
}
