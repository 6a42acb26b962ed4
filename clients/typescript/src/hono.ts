/** Functions in a Hono app: `app.use('/api/service', serve({ client, functions }))`. */
import { createFetchHandler } from './fetch.ts';
import type { ServeOptions } from './handler.ts';

export type { ServeOptions };

/** The part of Hono's context that is used here: this package depends on no framework. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
}

/** With the option `path`, requests to other paths go on to the next handler. */
export function serve(options: ServeOptions) {
  const handle = createFetchHandler(options, 'hono');
  return async (context: HonoContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const answer = await handle(context.req.raw);
    if (!answer) await next();
    return answer;
  };
}
