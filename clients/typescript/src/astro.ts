/** Functions in an Astro app: in `src/pages/api/service.ts`, `export const prerender = false` and
 *  `export const { GET, POST, PUT } = serve({ client, functions })`. */
import { fetchRoutes } from './fetch-routes.ts';
import type { ServeOptions } from './handler.ts';

export type { ServeOptions };

/** The part of Astro's context that this adapter uses; the package does not depend on the framework. */
export interface AstroContext {
  readonly request: Request;
  /** The context, with the fields that the adapter for Cloudflare adds. */
  readonly locals?: unknown;
}

interface CloudflareLocals {
  cfContext: unknown;
  /** Before Astro 6. */
  runtime: { ctx?: unknown } | null;
}

export type AstroRoute = (context: AstroContext) => Promise<Response>;

export function serve(options: ServeOptions): { GET: AstroRoute; POST: AstroRoute; PUT: AstroRoute } {
  const answer = fetchRoutes<AstroContext>(options, 'astro', ({ locals }) => {
    const { cfContext, runtime } = (locals ?? {}) as Partial<CloudflareLocals>;
    return [cfContext, runtime?.ctx];
  });
  return { GET: answer, POST: answer, PUT: answer };
}
