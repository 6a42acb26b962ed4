/** Functions in a Koa app: `app.use(serve({ client, functions, path: '/api/service' }))`, or in a router's `all`. */
import type { IncomingMessage } from 'node:http';
import { readBody } from './body.ts';
import { createHandler, type ServeOptions } from './handler.ts';

export type { ServeOptions };

/** The part of Koa's context that this adapter uses; the package does not depend on the framework. */
export interface KoaContext {
  readonly method: string;
  readonly originalUrl: string;
  readonly req: IncomingMessage;
  readonly request: object;
  get(header: string): string;
  set(headers: Record<string, string>): void;
  status: number;
  body: unknown;
}

/** If the option `path` is set, other paths reach the next middleware. Works before and after a body parser. */
export function serve(options: ServeOptions) {
  const handle = createHandler(options, 'koa');
  return async (ctx: KoaContext, next: () => Promise<unknown>): Promise<void> => {
    const answer = await handle({
      method: ctx.method,
      url: ctx.originalUrl,
      secure: 'encrypted' in ctx.req.socket,
      header: (name) => ctx.get(name) || undefined,
      body: () => bodyOf(ctx),
    });
    if (!answer) {
      await next();
      return;
    }
    ctx.status = answer.status;
    ctx.body = answer.body;
    ctx.set(answer.headers);
  };
}

async function bodyOf({ req, request }: KoaContext): Promise<Buffer | string | object> {
  const { body, rawBody } = request as { body?: string | object; rawBody?: string };
  return rawBody ?? body ?? readBody(req);
}
