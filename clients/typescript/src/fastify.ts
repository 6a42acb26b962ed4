/** Functions in a Fastify app: `app.register(serve({ client, functions, path: '/api/service' }))`. */
import { MAX_BODY_BYTES } from './body.ts';
import { createHandler, type ServeOptions } from './handler.ts';

export type { ServeOptions };

/** The part of Fastify's API that this adapter uses; the package does not depend on Fastify. */
export interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: Buffer, done: (error: null, body: Buffer) => void) => void,
  ): unknown;
  route(route: {
    method: string[];
    url: string;
    bodyLimit: number;
    handler(request: FastifyCall, reply: FastifyAnswer): Promise<unknown>;
  }): unknown;
}

export interface FastifyCall {
  readonly method: string;
  readonly originalUrl: string;
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

export interface FastifyAnswer {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body: Buffer): unknown;
}

/** The last two get a 405. */
const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'];

/** A plugin with one route and its own, encapsulated body parser. */
export function serve(options: ServeOptions & { path: string }): (app: FastifyScope) => Promise<void> {
  // The router has matched the path; with a prefix, the full path differs from the route.
  const handle = createHandler({ ...options, path: undefined }, 'fastify');
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.route({
      method: METHODS,
      url: options.path,
      bodyLimit: MAX_BODY_BYTES,
      async handler(request, reply) {
        const answer = await handle({
          method: request.method,
          url: request.originalUrl,
          secure: request.protocol === 'https',
          header: (name) => request.headers[name]?.toString(),
          body: async () => (Buffer.isBuffer(request.body) ? request.body : ''),
        });
        if (!answer) return;
        reply.code(answer.status);
        reply.headers(answer.headers);
        // As bytes: Fastify would add a charset to text.
        return reply.send(Buffer.from(answer.body));
      },
    });
  };
}
