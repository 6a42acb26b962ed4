/** Functions behind Node's own requests and responses, which several frameworks expose. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './body.ts';
import { createHandler, type ServeOptions } from './handler.ts';

/** Properties that frameworks add to a request. */
export interface ParsedRequest {
  /** Original path and query, before a router changed them. */
  originalUrl?: string;
  /** The parsed body. */
  body?: unknown;
  rawBody?: unknown;
}

/** Handles the request and resolves to true; resolves to false for other paths. */
export function createNodeHandler(options: ServeOptions, framework: string) {
  const handle = createHandler(options, framework);
  return async (req: IncomingMessage & ParsedRequest, res: ServerResponse): Promise<boolean> => {
    const answer = await handle({
      method: req.method ?? 'GET',
      url: req.originalUrl ?? req.url ?? '/',
      secure: 'encrypted' in req.socket,
      header: (name) => req.headers[name]?.toString(),
      body: () => bodyOfNode(req),
    });
    if (answer) res.writeHead(answer.status, answer.headers).end(answer.body);
    return answer !== undefined;
  };
}

/** Some parsers set an empty object without reading the body. */
export async function bodyOfNode(req: IncomingMessage & ParsedRequest): Promise<Buffer | string | object> {
  if (typeof req.rawBody === 'string' || Buffer.isBuffer(req.rawBody)) return req.rawBody;
  const { body } = req;
  const read = req.readableEnded && (typeof body === 'string' || (typeof body === 'object' && body !== null));
  return read ? body : readBody(req);
}
