/** Functions behind any Fetch API runtime (Bun, Deno, Cloudflare with `nodejs_compat`):
 *  `export default { fetch: serve({ client, functions }) }`. */
import type { AppRequest } from './app-request.ts';
import { readFetchBody } from './body.ts';
import { createHandler, type ServeOptions } from './handler.ts';
import { waitUntilOf } from './wait-until.ts';

export type { ServeOptions };

/** If the option `path` is set, other paths get a 404. The platform's second argument may have `waitUntil`. */
export function serve(options: ServeOptions): (request: Request, ...contexts: readonly unknown[]) => Promise<Response> {
  const handle = createFetchHandler(options, 'fetch');
  return async (request, ...contexts) =>
    (await handle(request, waitUntilOf(...contexts))) ?? new Response(null, { status: 404 });
}

/** Returns undefined for other paths. */
export function createFetchHandler(options: ServeOptions, framework: string) {
  const handle = createHandler(options, framework);
  return async (request: Request, waitUntil?: AppRequest['waitUntil']): Promise<Response | undefined> => {
    const { protocol, host, pathname, search } = new URL(request.url);
    const answer = await handle({
      method: request.method,
      url: `${pathname}${search}`,
      secure: protocol === 'https:',
      header: (name) => request.headers.get(name) ?? (name === 'host' ? host : undefined),
      body: () => readFetchBody(request),
      waitUntil,
    });
    return answer && new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
}
