/** Functions behind Node's own requests and answers, which several frameworks hand on. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './body.ts';
import { createHandler, type ServeOptions } from './handler.ts';

/** What frameworks add to a request. */
interface Parsed {
  /** Path and query, before a router has cut something off. */
  originalUrl?: string;
  /** What a body parser made of the body. */
  body?: unknown;
  rawBody?: unknown;
}

/** Answers the request and resolves to true; or to false when it is for another path. */
export function createNodeHandler(options: ServeOptions, framework: string) {
  const handle = createHandler(options, framework);
  return async (req: IncomingMessage & Parsed, res: ServerResponse): Promise<boolean> => {
    const answer = await handle({
      method: req.method ?? 'GET',
      url: req.originalUrl ?? req.url ?? '/',
      secure: 'encrypted' in req.socket,
      header: (name) => req.headers[name]?.toString(),
      body: () => bodyOf(req),
    });
    if (answer) res.writeHead(answer.status, answer.headers).end(answer.body);
    return answer !== undefined;
  };
}

/** A parser may have left an empty object where it has read nothing. */
async function bodyOf(req: IncomingMessage & Parsed): Promise<Buffer | string | object> {
  if (typeof req.rawBody === 'string' || Buffer.isBuffer(req.rawBody)) return req.rawBody;
  const { body } = req;
  const read = req.readableEnded && (typeof body === 'string' || (typeof body === 'object' && body !== null));
  return read ? body : readBody(req);
}
