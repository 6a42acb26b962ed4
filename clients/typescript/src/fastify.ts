/** Functions in a Fastify app: `app.register(serve({ client, functions, path: '/api/service' }))`. */
import { MAX_BODY_BYTES } from './body.ts';
import { createHandler, type ServeOptions } from './handler.ts';

export type { ServeOptions };

/** The part of Fastify that is used here: this package depends on no framework. */
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

/** The last two are answered too, with a 405. */
const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'];

/** A plugin with one route and a body parser of its own, which the rest of the app does not see. */
export function serve(options: ServeOptions & { path: string }): (app: FastifyScope) => Promise<void> {
  // The router sees to the path; with a prefix, the whole one is longer than the route's.
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
        // As bytes: to the type of a text it would add a charset.
        return reply.send(Buffer.from(answer.body));
      },
    });
  };
}
