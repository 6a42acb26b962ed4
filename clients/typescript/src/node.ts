/** Functions on a plain Node server: `createServer(serve({ client, functions }))`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServeOptions } from './handler.ts';
import { createNodeHandler } from './node-handler.ts';

export type { ServeOptions };

/** If the option `path` is set, other paths get a 404. */
export function serve(options: ServeOptions): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const handle = createNodeHandler(options, 'nodejs');
  return async (req, res) => {
    if (!(await handle(req, res))) res.writeHead(404).end();
  };
}
