/** The REST API: every route of `/v1`, and its documentation. */

import { ACCESS } from './features/access.ts';
import { APPS } from './features/apps.ts';
import { ENVIRONMENTS } from './features/environments.ts';
import { EVENTS } from './features/events.ts';
import { FUNCTIONS } from './features/functions.ts';
import { OPERATIONS } from './features/operations.ts';
import { RUNS } from './features/runs.ts';
import { WEBHOOKS } from './features/webhooks.ts';
import { sendPage } from './http/html-page.ts';
import { Router } from './http/router.ts';
import { officialInvokeRoutes } from './official/invoke.ts';
import { officialListRoutes } from './official/lists.ts';
import { Documentation } from './openapi/documentation.ts';
import type { ApiParts } from './parts.ts';
import { type MountDeps, mount } from './rest/mount.ts';
import type { Route } from './rest/route.ts';

/** If two paths match, the first wins: /v1/events/names comes before /v1/events/:id. */
const FEATURES = [ENVIRONMENTS, EVENTS, RUNS, WEBHOOKS, ACCESS, APPS, FUNCTIONS, OPERATIONS];

export function apiRoutes(parts: ApiParts): Route[] {
  return FEATURES.flat().flatMap((routesOf) => routesOf(parts));
}

/** Routes that only users of the official SDKs know; they are not in the documentation of the API (docs/rest.md). */
export function officialRoutes(parts: ApiParts): Route[] {
  return [...officialInvokeRoutes(parts), ...officialListRoutes(parts)];
}

/** The routes and their documentation, behind the guard. */
export function restApi(routes: readonly Route[], publicUrl: string | undefined, deps: MountDeps): Router {
  const router = new Router();
  const documentation = new Documentation(routes);
  mount(router, routes, deps);
  router.get('/openapi.json', async (ctx) => {
    ctx.body = await documentation.document(publicUrl ?? `${ctx.protocol}://${ctx.host}`);
  });
  router.get('/docs', async (ctx) => {
    const { html, style } = await documentation.page();
    sendPage(ctx, html, style);
  });
  return router;
}
