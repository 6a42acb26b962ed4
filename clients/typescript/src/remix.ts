/** Functions in a Remix or React Router 7 app, as a resource route: in `app/routes/api.service.ts`,
 *  `export const { loader, action } = serve({ client, functions })`. */
import { fetchRoutes } from './fetch-routes.ts';
import type { ServeOptions } from './handler.ts';

export type { ServeOptions };

/** The part of the framework's arguments that this adapter uses; the package does not depend on it. */
export interface RouteArguments {
  readonly request: Request;
  /** As the templates for Cloudflare have it. */
  readonly context?: unknown;
}

export type RouteFunction = (args: RouteArguments) => Promise<Response>;

export function serve(options: ServeOptions): { loader: RouteFunction; action: RouteFunction } {
  const answer = fetchRoutes<RouteArguments>(options, 'remix', ({ context }) => [
    (context as { cloudflare?: { ctx?: unknown } } | null | undefined)?.cloudflare?.ctx,
  ]);
  return { loader: answer, action: answer };
}
