/** The Koa application: the middleware that every request passes, in order, and then the routes. */
import Koa from 'koa';
import type { DutyRunner } from '../duties/runner.ts';
import type { EndpointOrigins } from '../jobs/runs/calls/endpoint-origins.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import type { WebhookDirectory } from '../store/webhooks/webhook-directory.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { checkpointRoutes, fastCheckpointRoutes } from './apps/checkpoint.ts';
import { endpointResponseRoutes } from './apps/endpoint-response.ts';
import { endpointRunRoutes } from './apps/endpoint-runs.ts';
import { registerRoute } from './apps/register.ts';
import { ResponseTokens } from './apps/response-tokens.ts';
import { runDataRoutes } from './apps/run-data.ts';
import { runLogRoute } from './apps/run-logs.ts';
import { accountRoutes } from './auth/account-routes.ts';
import { AuditLogger } from './auth/audit-logger.ts';
import { BrowserSessions } from './auth/browser-sessions.ts';
import { localHostCheck, requireLocalHost } from './auth/dev-mode-access.ts';
import { guard } from './auth/guard.ts';
import { singleSignOnRoutes } from './auth/oidc/routes.ts';
import { Passkeys } from './auth/passkeys.ts';
import { Principals } from './auth/principals.ts';
import { authRoutes } from './auth/routes.ts';
import { secondFactorRoutes } from './auth/second-factor-routes.ts';
import { SecondFactors } from './auth/second-factors.ts';
import { SignIns } from './auth/sign-ins.ts';
import type { Gateway } from './connect/gateway.ts';
import { connectRoutes } from './connect/routes.ts';
import { dashboardFiles, dashboardPage, notFoundPage, pageDuringOutage } from './dashboard.ts';
import { compressResponses } from './http/compression.ts';
import { handleErrors, logRequest, respondToError } from './http/error-handler.ts';
import { assignRequestId, parseQueriesOnce, rejectLongQueries, rejectUnknownMethods } from './http/incoming-request.ts';
import { limitRequests } from './http/rate-limit.ts';
import { recordRequestMetrics, traceRequests } from './http/request-telemetry.ts';
import { type RequestState, Router } from './http/router.ts';
import { securityHeaders } from './http/security-headers.ts';
import { mcpRoute } from './mcp/server.ts';
import { devInfoRoute } from './official/dev-info.ts';
import { unsupportedRoutes } from './official/unsupported.ts';
import { board, boardBodyErrors, boardPolicy } from './operations/board.ts';
import { allowOnBoard, auditBoard, clampBoardQuery, findBoardRoute } from './operations/board-access.ts';
import { docPageRoutes } from './operations/doc-pages.ts';
import { healthRoutes } from './operations/health.ts';
import { metricsEndpoint, noMetricsEndpoint } from './operations/metrics-endpoint.ts';
import type { Readiness } from './operations/readiness.ts';
import { type ApiServices, apiParts } from './parts.ts';
import type { Realtime } from './realtime/realtime.ts';
import { Credentials } from './receive/credentials.ts';
import { fastPath } from './receive/fast-path.ts';
import { fastEventRoute, type ReceiveDeps, receiveRoutes } from './receive/routes.ts';
import { UnverifiedLogLimit } from './receive/unverified-log-limit.ts';
import type { WebhookWatcher } from './receive/webhook-watcher.ts';
import type { LiveStreams } from './rest/live-streams.ts';
import { mount } from './rest/mount.ts';
import { TargetNames } from './rest/target-names.ts';
import { apiRoutes, officialRoutes, restApi } from './rest-api.ts';
import { streamRoute } from './routes/stream.ts';

export interface AppDeps extends ApiServices {
  webhookDirectory: WebhookDirectory;
  webhookWatcher: WebhookWatcher;
  endpointOrigins: EndpointOrigins;
  readiness: Readiness;
  duties: Pick<DutyRunner, 'states'>;
  liveStreams: LiveStreams;
  gateway: Gateway;
  realtime: Realtime;
  tracing?: Tracing | undefined;
  /** undefined: metrics are off. */
  processMetrics: ProcessMetrics | undefined;
}

export function createApp(deps: AppDeps): Koa<RequestState> {
  const { config, store, log, acceptor, backpressure, requestLogWriter, telemetry, transforms, queues } = deps;
  const { environments, signingKeys } = store;
  const parts = apiParts(deps);
  const app = new Koa<RequestState>();
  parseQueriesOnce(app);
  app.proxy = config.trustProxy > 0;
  app.maxIpsCount = config.trustProxy;
  app.on('error', (error: NodeJS.ErrnoException & { status?: number }) => {
    // Connection errors have a code; an error without one is a bug that bypassed the error handler, or a rejection by Bull Board.
    if (error.code !== undefined || (error.status ?? 500) < 500) log.debug({ err: error.message }, 'connection error');
    else log.error({ err: error }, 'error outside the error handler');
  });

  const recordMetrics = deps.processMetrics && recordRequestMetrics(deps.processMetrics.recorder);
  const trace = deps.tracing && traceRequests(deps.tracing);
  const checkLocalHost = config.dev ? localHostCheck(config.devAllowedOrigins) : undefined;
  const receiveDeps: ReceiveDeps = {
    dev: config.dev,
    publicUrl: config.publicUrl,
    ids: store.ids,
    fetchDocument: deps.fetchDocument,
    transmissions: store.transmissions,
    webhookReconciliations: store.webhookReconciliations,
    eventMaxFutureMs: config.eventMaxFutureMs,
    credentials: new Credentials({ eventKeys: store.eventKeys, webhooks: deps.webhookDirectory, dev: config.dev }),
    environments,
    eventKeys: store.eventKeys,
    heldEvents: store.heldEvents,
    originalRequests: store.originalRequests,
    functionTables: deps.functionTables,
    eventLimits: store.eventLimits,
    acceptor,
    backpressure,
    requestLogWriter,
    webhookFilters: deps.webhookFilters,
    webhookOrders: deps.webhookOrders,
    largeBodies: deps.largeBodies,
    unverifiedLogLimit: new UnverifiedLogLimit(),
    webhookWatcher: deps.webhookWatcher,
    telemetry,
    transforms,
  };
  app.use(
    fastPath({
      publicUrl: config.publicUrl,
      routes: [fastEventRoute(receiveDeps), ...fastCheckpointRoutes(config.publicUrl, parts)],
      observers: [recordMetrics, trace].filter((observer) => observer !== undefined),
      admit: checkLocalHost,
      reject: (ctx, thrown) => respondToError(ctx, thrown, log, backpressure),
      logDone: (ctx) => logRequest(ctx, log),
    }),
  );

  if (recordMetrics) app.use(recordMetrics);
  app.use(assignRequestId);
  if (trace) app.use(trace);
  app
    .use(securityHeaders(config.publicUrl))
    .use(compressResponses())
    .use(handleErrors(log, backpressure))
    .use(rejectUnknownMethods)
    .use(rejectLongQueries);
  if (config.dev) app.use(requireLocalHost(config.devAllowedOrigins));

  app.use(receiveRoutes(receiveDeps).routes());

  const open = new Router();
  if (config.dev) devInfoRoute(open, store);
  healthRoutes(open, parts);
  docPageRoutes(open, config.publicUrl);
  registerRoute(open, parts);
  connectRoutes(open, parts);
  runDataRoutes(open, parts);
  if (config.runLogs) runLogRoute(open, parts);
  checkpointRoutes(open, config.publicUrl, parts);
  const responseTokens = new ResponseTokens(config.secretKey, config.secretKeyFallback);
  endpointResponseRoutes(open, responseTokens, parts);
  endpointRunRoutes(open, responseTokens, parts);
  deps.realtime.addRoutes(open);
  app.use(open.routes());
  app.use(
    deps.processMetrics && config.metricsToken !== undefined
      ? metricsEndpoint(deps.processMetrics, config.metricsToken)
      : noMetricsEndpoint(),
  );

  const { sessions, apiKeys } = store;
  const principals = new Principals({ config, apiKeys, sessions, signingKeys, environments });
  const auditLogger = new AuditLogger({ auditLog: store.auditLog, rejectionLog: store.rejectionLog, log });
  const { idempotentResponses } = store;
  const targetNames = new TargetNames(store);
  const mountDeps = { environments, principals, auditLogger, targetNames, idempotentResponses };
  const browserSessions = new BrowserSessions({ sessions, publicUrl: config.publicUrl });
  const secondFactors = new SecondFactors({ config, ...store });
  const passkeys = new Passkeys(store);
  const { publicUrl } = config;
  const signIns = new SignIns({ publicUrl, browserSessions, secondFactors, auditLogger, ...store });
  app.use(authRoutes(principals, browserSessions, signIns, auditLogger, parts).routes());
  app.use(secondFactorRoutes({ publicUrl, auditLogger, passkeys, secondFactors, signIns }).routes());
  const { accounts, identityProviders } = deps;
  app.use(
    accountRoutes({
      publicUrl,
      accounts,
      auditLogger,
      browserSessions,
      identityProviders,
      passkeys,
      secondFactors,
      sessions,
    }).routes(),
  );
  app.use(singleSignOnRoutes(browserSessions, auditLogger, parts).routes());
  app.use(dashboardFiles);
  const requestLimits = { 'api-key': store.apiRateLimits, user: store.userRateLimits };
  app.use(pageDuringOutage()).use(guard(config, principals)).use(limitRequests(requestLimits)).use(dashboardPage());

  app.use(streamRoute(principals, parts).routes());
  const routes = apiRoutes(parts);
  app.use(restApi(routes, config.publicUrl, mountDeps).routes());
  const assistants = new Router();
  const withPayloads = config.mcpPayloads;
  mcpRoute(assistants, { ...mountDeps, routes, requestLimits, publicUrl, withPayloads, log });
  app.use(assistants.routes());
  const official = new Router();
  mount(official, officialRoutes(parts), mountDeps);
  app.use(official.routes()).use(unsupportedRoutes().routes());
  app.use(findBoardRoute()).use(allowOnBoard).use(auditBoard(auditLogger)).use(clampBoardQuery);
  app.use(boardPolicy).use(boardBodyErrors).use(board(queues)).use(notFoundPage());
  return app;
}
