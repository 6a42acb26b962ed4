/** The Koa application: what every request passes through, and every door. */
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Config } from '../config.ts';
import type { Acceptor } from '../jobs/accept.ts';
import type { IngestQueue, RunQueue } from '../jobs/queues.ts';
import type { RunLife } from '../jobs/run-life.ts';
import type { Logger } from '../log.ts';
import type { Environments } from '../store/environments.ts';
import type { Store } from '../store/store.ts';
import type { WebhookDirectory } from '../store/webhook-directory.ts';
import type { Transforms } from '../transforms/transforms.ts';
import { appDataRoutes } from './app-data.ts';
import { apiGuard } from './auth.ts';
import { BOARD_PATH, board } from './board.ts';
import { docsPage } from './docs-page.ts';
import { EventKeys } from './event-keys.ts';
import { funnelErrors, identify } from './funnel.ts';
import { healthRoutes } from './health.ts';
import { openApi } from './openapi.ts';
import { receiveRoutes } from './receive.ts';
import { registerRoute } from './register.ts';
import { mount, type Route } from './route.ts';
import { appRoutes } from './routes/apps.ts';
import { eventRoutes } from './routes/events.ts';
import { runRoutes } from './routes/runs.ts';
import { transformRoutes } from './routes/transforms.ts';
import { webhookRoutes } from './routes/webhooks.ts';

export interface AppDeps {
  config: Config;
  store: Store;
  directory: WebhookDirectory;
  transforms: Transforms;
  acceptor: Acceptor;
  life: RunLife;
  queues: [IngestQueue, RunQueue];
  log: Logger;
}

export function createApp({ config, store, directory, transforms, acceptor, life, queues, log }: AppDeps): Koa {
  const app = new Koa();
  app.proxy = config.publicUrl !== undefined;
  app.on('error', (error: Error) => log.debug({ err: error.message }, 'connection'));
  app.use(identify).use(funnelErrors(log));

  const receive = receiveRoutes({
    config,
    eventKeys: new EventKeys(config.eventKeys),
    webhooks: directory,
    transforms,
    acceptor,
  });
  app.use(receive.routes() as Middleware);

  const open = new Router();
  healthRoutes(open, store.redis, config.dev ? 'dev' : 'production');
  registerRoute(open, config, store);
  appDataRoutes(open, config, store);
  app.use(open.routes() as Middleware);

  app.use(apiGuard(config));
  app.use(
    restricted(
      apiRoutes({ store, life, transforms, publicUrl: config.publicUrl }),
      store.environments,
    ).routes() as Middleware,
  );
  app.use(board(queues));
  return app;
}

interface ApiRouteDeps {
  store: Store;
  life: RunLife;
  transforms: Transforms;
  publicUrl: string | undefined;
}

/** Every route of the REST API. */
export function apiRoutes({ store, life, transforms, publicUrl }: ApiRouteDeps): Route[] {
  return [
    ...eventRoutes(store),
    ...runRoutes({ ...store, life }),
    ...webhookRoutes({ webhooks: store.webhooks, transforms, publicUrl }),
    ...transformRoutes({ transforms }),
    ...appRoutes(),
  ];
}

/** The API and what is told of it, behind the guard. */
function restricted(routes: Route[], environments: Environments): Router {
  const router = new Router();
  const document = openApi(routes);
  const page = docsPage(document);
  mount(router, routes, environments);
  router.get('/openapi.json', (ctx) => {
    ctx.body = document;
  });
  router.get('/docs', (ctx) => {
    ctx.type = 'html';
    ctx.body = page;
  });
  router.get('/', (ctx) => ctx.redirect(BOARD_PATH));
  return router;
}
