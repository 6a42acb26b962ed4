/** Functions in a Hono app: `app.use('/api/service', serve({ client, functions }))`. */
import { createFetchHandler } from './fetch.ts';
import type { ServeOptions } from './handler.ts';
import { waitUntilOf } from './wait-until.ts';

export type { ServeOptions };

/** The part of Hono's context that this adapter uses; the package does not depend on the framework. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  /** Exists only on Cloudflare; on other platforms reading it throws. */
  readonly executionCtx?: unknown;
}

/** If the option `path` is set, other paths reach the next handler. */
export function serve(options: ServeOptions) {
  const handle = createFetchHandler(options, 'hono');
  return async (context: HonoContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const answer = await handle(context.req.raw, waitUntilOf(executionOf(context)));
    if (!answer) await next();
    return answer;
  };
}

function executionOf(context: HonoContext): unknown {
  try {
    return context.executionCtx;
  } catch {
    return undefined;
  }
}
