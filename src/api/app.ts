/** The Koa application: what every request passes through, and every door. */
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Config } from '../config.ts';
import type { HttpAgent } from '../functions/http-agent.ts';
import type { Acceptor } from '../jobs/ingestion/acceptor.ts';
import type { FunctionTables } from '../jobs/ingestion/function-tables.ts';
import type { Backpressure } from '../jobs/queues/backpressure.ts';
import type { IngestQueue, RunQueue } from '../jobs/queues/queues.ts';
import type { Invocations } from '../jobs/runs/invocations.ts';
import type { RunRetries } from '../jobs/runs/run-retries.ts';
import type { RunTransitions } from '../jobs/runs/state-transitions.ts';
import type { Telemetry } from '../jobs/telemetry/telemetry.ts';
import type { Logger } from '../log.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import type { Store } from '../store/store.ts';
import type { WebhookDirectory } from '../store/webhooks/webhook-directory.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Transforms } from '../transforms/transforms.ts';
import { registerRoute } from './apps/register.ts';
import { appDataRoutes } from './apps/run-data.ts';
import { AuditLogger } from './auth/audit-log.ts';
import { requireLocalHost } from './auth/dev-mode-access.ts';
import { guard } from './auth/guard.ts';
import { authRoutes } from './auth/routes.ts';
import { dashboardFiles, dashboardPage } from './dashboard.ts';
import { rejectUnknownMethods } from './http/allowed-methods.ts';
import { compressResponses } from './http/compression.ts';
import { assignRequestId, handleErrors } from './http/error-handler.ts';
import { answerPage } from './http/html-page.ts';
import { recordRequestMetrics } from './http/request-metrics.ts';
import { traceRequests } from './http/request-tracing.ts';
import { securityHeaders } from './http/security-headers.ts';
import { readQueriesOnce, refuseLongQueries } from './http/urlencoded.ts';
import { openApi } from './openapi/document.ts';
import { DOCS_STYLE, docsPage } from './openapi/page.ts';
import { board, boardBodies, boardPolicy } from './operations/board.ts';
import { allowOnBoard, auditBoard, clampBoardQuery, findBoardRoute } from './operations/board-access.ts';
import { healthRoutes } from './operations/health.ts';
import { metricsEndpoint, noMetricsEndpoint } from './operations/metrics-endpoint.ts';
import type { Readiness } from './operations/readiness.ts';
import { Credentials } from './receive/credentials.ts';
import type { RequestLogWriter } from './receive/request-log-writer.ts';
import { receiveRoutes } from './receive/routes.ts';
import type { LiveStreams } from './rest/live-streams.ts';
import { type MountDeps, mount, type Route } from './rest/route.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { appCheckRoutes } from './routes/app-check.ts';
import { appRoutes } from './routes/apps.ts';
import { auditRoutes } from './routes/audit.ts';
import { environmentRoutes } from './routes/environments.ts';
import { eventCountRoutes } from './routes/event-counts.ts';
import { eventKeyRoutes } from './routes/event-keys.ts';
import { provenanceRoutes } from './routes/event-provenance.ts';
import { eventRoutes } from './routes/events.ts';
import { functionRoutes } from './routes/functions.ts';
import { holdingRoutes } from './routes/held-events.ts';
import { limitRoutes } from './routes/installation-limits.ts';
import { invokeRoutes } from './routes/invoke.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { overviewRoutes } from './routes/overview.ts';
import { runRoutes } from './routes/runs.ts';
import { eventSendRoutes } from './routes/send-events.ts';
import { settingRoutes } from './routes/settings.ts';
import { signingKeyRoutes } from './routes/signing-keys.ts';
import { streamRoute } from './routes/stream.ts';
import { transformRoutes } from './routes/transforms.ts';
import { userRoutes } from './routes/users.ts';
import { webhookActionRoutes } from './routes/webhook-actions.ts';
import { webhookLogRoutes } from './routes/webhook-log.ts';
import { webhookStatsRoutes } from './routes/webhook-stats.ts';
import { webhookRoutes } from './routes/webhooks.ts';

export interface AppDeps {
  config: Config;
  store: Store;
  directory: WebhookDirectory;
  functionTables: FunctionTables;
  transforms: Transforms;
  acceptor: Acceptor;
  pressure: Backpressure;
  readiness: Readiness;
  recorder: RequestLogWriter;
  reports: Telemetry;
  streams: LiveStreams;
  life: RunTransitions;
  retries: RunRetries;
  invocations: Invocations;
  /** The way out to apps. */
  outgoing: HttpAgent;
  queues: [IngestQueue, RunQueue];
  tracing?: Tracing | undefined;
  /** undefined: nobody asks for metrics. */
  instruments: ProcessMetrics | undefined;
  log: Logger;
}

export function createApp(deps: AppDeps): Koa {
  const { config, store, directory, queues, instruments, pressure, log } = deps;
  const app = new Koa();
  readQueriesOnce(app);
  app.proxy = config.trustProxy > 0;
  app.maxIpsCount = config.trustProxy;
  app.on('error', (error: NodeJS.ErrnoException & { status?: number }) => {
    // Connections end with a code; what has none is a fault of ours that the funnel has not seen, or a refusal of Bull Board's.
    if (error.code !== undefined || (error.status ?? 500) < 500) log.debug({ err: error.message }, 'connection');
    else log.error({ err: error }, 'not answered in order');
  });
  const auditor = new AuditLogger(store.audit, store.refusals, log);
  if (instruments) app.use(recordRequestMetrics(instruments.recorder));
  app.use(assignRequestId);
  if (deps.tracing) app.use(traceRequests(deps.tracing));
  app
    .use(securityHeaders(config.publicUrl))
    .use(compressResponses())
    .use(handleErrors(log, pressure))
    .use(rejectUnknownMethods)
    .use(refuseLongQueries);
  if (config.dev) app.use(requireLocalHost(config.devAllowedOrigins));

  const senders = new Credentials(store.eventKeys, directory, config.dev);
  const receive = receiveRoutes({ ...store, ...deps, senders });
  app.use(receive.routes() as Middleware);

  const open = new Router();
  healthRoutes(open, deps.readiness, pressure, config.dev ? 'dev' : 'production');
  registerRoute(open, config, store, pressure);
  appDataRoutes(open, config, store);
  app.use(open.routes() as Middleware);
  const { metricsToken } = config;
  app.use(instruments && metricsToken !== undefined ? metricsEndpoint(instruments, metricsToken) : noMetricsEndpoint());

  app.use(authRoutes(config, store, auditor).routes() as Middleware);
  app.use(dashboardFiles);
  app.use(guard(config, store)).use(dashboardPage());
  app.use(streamRoute(config, store, deps.streams).routes() as Middleware);
  app.use(restricted(apiRoutes(deps), { environments: store.environments, auditor }).routes() as Middleware);
  app
    .use(findBoardRoute() as Middleware)
    .use(allowOnBoard)
    .use(auditBoard(auditor))
    .use(clampBoardQuery);
  app.use(boardPolicy).use(boardBodies).use(board(queues));
  return app;
}

/** Every route of the REST API. */
export function apiRoutes(deps: AppDeps): Route[] {
  const { config, store, transforms } = deps;
  const eventLimit = () => store.account.limits.eventMaxBytes ?? config.eventMaxBytes;
  // Where two paths fit, the first stands: /v1/events/names before /v1/events/:id.
  return [
    ...environmentRoutes({ ...store, config }),
    ...eventKeyRoutes(store),
    ...limitRoutes({ ...store, config }),
    ...eventCountRoutes(store),
    ...eventRoutes(store),
    ...eventSendRoutes({ ...store, ...deps, eventLimit }),
    ...provenanceRoutes(store),
    ...runRoutes({ ...store, ...deps }),
    ...webhookStatsRoutes(store),
    ...webhookRoutes({ ...store, config, transforms }),
    ...webhookActionRoutes({ ...store, config }),
    ...webhookLogRoutes({ ...store, ...deps }),
    ...holdingRoutes({ ...store, ...deps }),
    ...transformRoutes({ transforms, config }),
    ...apiKeyRoutes(store),
    ...signingKeyRoutes(store),
    ...auditRoutes(store),
    ...userRoutes(store, config.publicUrl),
    ...appRoutes({ ...store, ...deps }),
    ...appCheckRoutes({ ...store, ...deps }),
    ...metricsRoutes(store),
    ...functionRoutes(store),
    ...overviewRoutes({ ...store, ...deps }),
    ...invokeRoutes({ ...store, ...deps, eventLimit }),
    ...settingRoutes({ config }),
  ];
}

/** The API and what is told of it, behind the guard. */
function restricted(routes: Route[], deps: MountDeps): Router {
  const router = new Router();
  const document = openApi(routes);
  const page = docsPage(document);
  mount(router, routes, deps);
  router.get('/openapi.json', (ctx) => {
    ctx.body = document;
  });
  router.get('/docs', (ctx) => {
    answerPage(ctx as unknown as Context, page, DOCS_STYLE);
  });
  return router;
}
