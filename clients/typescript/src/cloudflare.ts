/** Functions on Cloudflare with `nodejs_compat`. The SERVICE_* variables and secrets of the Worker are read from the bindings of each request.
 *
 *      export default { fetch: serve({ client, functions }) };  // a Worker
 *      export const onRequest = serve({ client, functions });   // Pages: functions/api/service.ts */
import { withBindings } from './environment.ts';
import { createFetchHandler } from './fetch.ts';
import type { ServeOptions } from './handler.ts';
import { waitUntilOf } from './wait-until.ts';

export type { ServeOptions };

/** The part of a Pages function's context that this adapter uses. */
export interface PagesContext {
  readonly request: Request;
  readonly env: object;
  waitUntil?(work: Promise<unknown>): void;
}

export interface CloudflareHandler {
  (request: Request, env?: object, context?: unknown): Promise<Response>;
  (context: PagesContext): Promise<Response>;
}

/** If the option `path` is set, other paths get a 404. */
export function serve(options: ServeOptions): CloudflareHandler {
  const handle = createFetchHandler(options, 'cloudflare');
  return async (given: Request | PagesContext, env: object = {}, context: unknown = {}): Promise<Response> => {
    const { request, bindings, platform } =
      'env' in given
        ? { request: given.request, bindings: given.env, platform: given }
        : { request: given, bindings: env, platform: context };
    const answer = await withBindings(bindings, () => handle(request, waitUntilOf(platform)));
    return answer ?? new Response(null, { status: 404 });
  };
}
