/** Functions on a plain Node server: `createServer(serve({ client, functions }))`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './body.ts';
import { createHandler, type ServeOptions } from './handler.ts';

export type { ServeOptions };

/** With the option `path`, requests to other paths are answered 404. */
export function serve(options: ServeOptions): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const handle = createHandler(options, 'nodejs');
  return async (req, res) => {
    const answer = await handle({
      method: req.method ?? 'GET',
      url: req.url ?? '/',
      secure: 'encrypted' in req.socket,
      header: (name) => req.headers[name]?.toString(),
      body: () => readBody(req),
    });
    if (answer) res.writeHead(answer.status, answer.headers).end(answer.body);
    else res.writeHead(404).end();
  };
}
