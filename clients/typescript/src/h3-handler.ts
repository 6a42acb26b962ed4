/** Functions behind h3's events, which Nuxt and Nitro have too. */
import type { IncomingMessage } from 'node:http';
import { createFetchHandler } from './fetch.ts';
import { createHandler, type ServeOptions } from './handler.ts';
import { bodyOfNode, type ParsedRequest } from './node-handler.ts';
import { waitUntilOf } from './wait-until.ts';

/** The part of an event that this adapter uses; the package does not depend on the framework. Version 2 has the Fetch API's request, version
 *  1 Node's. */
export interface H3Event {
  readonly req?: unknown;
  readonly node?: { readonly req: object } | undefined;
}

/** Both versions send a Response. Returns undefined for other paths. */
export function createH3Handler(options: ServeOptions, framework: string) {
  const handleFetch = createFetchHandler(options, framework);
  const handle = createHandler(options, framework);
  return async (event: H3Event): Promise<Response | undefined> => {
    const { req: request, node } = event;
    if (isFetchRequest(request)) return handleFetch(request, waitUntilOf(request));
    const req = node?.req as IncomingMessage & ParsedRequest;
    const answer = await handle({
      method: req.method ?? 'GET',
      url: req.originalUrl ?? req.url ?? '/',
      secure: req.socket !== undefined && 'encrypted' in req.socket,
      header: (name) => req.headers[name]?.toString(),
      body: () => bodyOfNode(req),
      // Nitro's.
      waitUntil: waitUntilOf(event),
    });
    return answer && new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
}

function isFetchRequest(request: unknown): request is Request {
  return typeof (request as Request | undefined)?.headers?.get === 'function';
}
