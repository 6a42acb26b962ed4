/** Functions in a Nuxt app: in `server/api/service.ts`, `export default defineEventHandler(serve({ client, functions }))`. */

import { createH3Handler, type H3Event } from './h3-handler.ts';
import type { ServeOptions } from './handler.ts';

export type { H3Event, ServeOptions };

/** If the option `path` is set, other paths reach the next handler. */
export function serve(options: ServeOptions): (event: H3Event) => Promise<Response | undefined> {
  return createH3Handler(options, 'nuxt');
}
