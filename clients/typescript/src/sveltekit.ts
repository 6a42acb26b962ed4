/** Functions in a SvelteKit app: in `src/routes/api/service/+server.ts`,
 *  `export const { GET, POST, PUT } = serve({ client, functions })`. */
import { fetchRoutes } from './fetch-routes.ts';
import type { ServeOptions } from './handler.ts';

export type { ServeOptions };

/** The part of SvelteKit's event that this adapter uses; the package does not depend on the framework. */
export interface SvelteKitEvent {
  readonly request: Request;
  /** Fields of the adapters for Cloudflare and for Vercel's edge. */
  readonly platform?: unknown;
}

export type SvelteKitHandler = (event: SvelteKitEvent) => Promise<Response>;

export function serve(options: ServeOptions): { GET: SvelteKitHandler; POST: SvelteKitHandler; PUT: SvelteKitHandler } {
  const answer = fetchRoutes<SvelteKitEvent>(options, 'sveltekit', ({ platform }) => {
    const { ctx, context } = (platform ?? {}) as { ctx?: unknown; context?: unknown };
    return [ctx, context];
  });
  return { GET: answer, POST: answer, PUT: answer };
}
