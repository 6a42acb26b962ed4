/** The REST API: every route of `/v1`, and its documentation. */

import type { Archive } from '../archive/archive.ts';
import type { Config } from '../config.ts';

import type { HttpAgent } from '../functions/http-agent.ts';
import type { AcceptedEvents } from '../history/accepted-events.ts';
import type { History } from '../history/history.ts';
import type { Searches } from '../history/searches.ts';
import { StorageUses } from '../history/storage-use.ts';
import type { Acceptor } from '../jobs/acceptance/acceptor.ts';
import type { ArchiveHealth } from '../jobs/archive/archive-health.ts';
import type { SelectedRuns } from '../jobs/bulk/selected-runs.ts';
import type { Admission } from '../jobs/flow-control/admission.ts';
import { ExplainedDecisions } from '../jobs/flow-control/explained-decisions.ts';
import type { LimitStatuses } from '../jobs/flow-control/limit-status.ts';
import type { ExpressionEvaluator } from '../jobs/functions/expression-evaluator.ts';
import type { FunctionTables } from '../jobs/functions/function-tables.ts';
import type { Backpressure } from '../jobs/queues/backpressure.ts';
import type { PartitionQueues } from '../jobs/queues/partition-queues.ts';
import type { ReplayPlanner } from '../jobs/replays/planner.ts';
import type { CallCheckpoints } from '../jobs/runs/checkpoints.ts';
import type { Endpoints } from '../jobs/runs/endpoints.ts';
import type { Invocations } from '../jobs/runs/invocations.ts';
import type { RunRetries } from '../jobs/runs/run-retries.ts';
import type { RunStates } from '../jobs/runs/run-states.ts';
import type { SignalSender } from '../jobs/runs/signal-sender.ts';
import type { RunTransitions } from '../jobs/runs/state-transitions.ts';
import type { Telemetry } from '../jobs/telemetry/telemetry.ts';
import type { Schedules } from '../jobs/timers/schedules.ts';
import type { Logger } from '../log.ts';
import { DAY_MS } from '../model/values/time.ts';
import type { FetchDocument } from '../providers/verification/verification.ts';
import type { Store } from '../store/store.ts';
import type { Transforms } from '../transforms/transforms.ts';
import type { Registrar } from './apps/registrar.ts';
import type { AppSync } from './apps/sync.ts';
import type { Accounts } from './auth/accounts.ts';
import { sendPage } from './http/html-page.ts';
import { Router } from './http/router.ts';
import { officialInvokeRoutes } from './official/invoke.ts';
import { officialListRoutes } from './official/lists.ts';
import { Documentation } from './openapi/documentation.ts';
import type { RequestLogWriter } from './receive/request-log-writer.ts';
import { type MountDeps, mount } from './rest/mount.ts';
import type { Route } from './rest/route.ts';
import { allowedOriginRoutes } from './routes/allowed-origins.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { appCheckRoutes } from './routes/app-check.ts';
import { appConnectionRoutes } from './routes/app-connections.ts';
import { appRoutes } from './routes/apps.ts';
import { auditRoutes } from './routes/audit.ts';
import { bulkActionRoutes } from './routes/bulk-actions.ts';
import { cancellationRoutes } from './routes/cancellations.ts';
import { deployRoutes } from './routes/deploys.ts';
import { environmentLimitRoutes } from './routes/environment-limits.ts';
import { environmentRoutes } from './routes/environments.ts';
import { errorRoutes } from './routes/errors.ts';
import { eventCountRoutes } from './routes/event-counts.ts';
import { eventDecisionRoutes } from './routes/event-decisions.ts';
import { eventKeyRoutes } from './routes/event-keys.ts';
import { provenanceRoutes } from './routes/event-provenance.ts';
import { eventRoutes } from './routes/events.ts';
import { functionMetricsRoutes } from './routes/function-metrics.ts';
import { functionRoutes } from './routes/functions.ts';
import { healthCheckRoutes } from './routes/health-checks.ts';
import { heldEventRoutes } from './routes/held-events.ts';
import { heldRegistrationRoutes } from './routes/held-registrations.ts';
import { installationLimitRoutes } from './routes/installation-limits.ts';
import { invokeRoutes } from './routes/invoke.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { overviewRoutes } from './routes/overview.ts';
import { providerRoutes } from './routes/providers.ts';
import { replayRoutes } from './routes/replays.ts';
import { runCountRoutes } from './routes/run-counts.ts';
import { runLogRoutes } from './routes/run-logs.ts';
import { runMetadataRoutes } from './routes/run-metadata.ts';
import { runRoutes } from './routes/runs.ts';
import { savedViewRoutes } from './routes/saved-views.ts';
import { searchRoutes } from './routes/search.ts';
import { sendEventRoutes } from './routes/send-events.ts';
import { settingRoutes } from './routes/settings.ts';
import { signalRoutes } from './routes/signals.ts';
import { signingKeyRoutes } from './routes/signing-keys.ts';
import { statusRoutes } from './routes/status.ts';
import { storageRoutes } from './routes/storage.ts';
import { transformRoutes } from './routes/transforms.ts';
import { userRoutes } from './routes/users.ts';
import { webhookActionRoutes } from './routes/webhook-actions.ts';
import { webhookIssueRoutes } from './routes/webhook-issues.ts';
import { webhookLogRoutes } from './routes/webhook-log.ts';
import { webhookReplayRoutes } from './routes/webhook-replays.ts';
import { webhookSecretRoutes } from './routes/webhook-secrets.ts';
import { webhookStatsRoutes } from './routes/webhook-stats.ts';
import { webhookVersionRoutes } from './routes/webhook-versions.ts';
import { webhookRoutes } from './routes/webhooks.ts';

export interface ApiDeps {
  config: Config;
  store: Store;
  /** undefined: Redis keeps everything. */
  archive: Archive | undefined;
  history: History;
  functionTables: FunctionTables;
  transforms: Transforms;
  acceptor: Acceptor;
  backpressure: Backpressure;
  archiveHealth: ArchiveHealth;
  requestLogWriter: RequestLogWriter;
  telemetry: Telemetry;
  transitions: RunTransitions;
  retries: RunRetries;
  limitStatuses: LimitStatuses;
  runStates: RunStates;
  replayPlanner: ReplayPlanner;
  searches: Searches;
  selectedRuns: SelectedRuns;
  acceptedEvents: AcceptedEvents;
  accounts: Accounts;
  appSync: AppSync;
  evaluator: ExpressionEvaluator;
  invocations: Invocations;
  callCheckpoints: CallCheckpoints;
  endpoints: Endpoints;
  signalSender: SignalSender;
  httpAgent: HttpAgent;
  fetchDocument: FetchDocument;
  registrar: Registrar;
  admission: Pick<Admission, 'noteChange'>;
  schedules: Schedules;
  queues: PartitionQueues;
  log: Logger;
}

/** Where two paths match, the first wins: /v1/events/names comes before /v1/events/:id. */
export function apiRoutes(deps: ApiDeps): Route[] {
  const { config, store, transforms, acceptor, backpressure, requestLogWriter, telemetry, httpAgent, functionTables } =
    deps;
  const { publicUrl, quotas, eventMaxFutureMs } = config;
  const { environments, environmentKinds, eventKeys } = store;
  const {
    events,
    eventLists,
    eventCounts,
    runs,
    runLists,
    listedRuns,
    runParts,
    runMetadata,
    steps,
    webhookLog,
    auditLog,
  } = deps.history;
  const { apps, functions, expressionProblems, signingKeys, processes, metrics } = store;
  const { webhooks, webhookVersions, webhookIssues, webhookTraffic, heldEvents } = store;
  const { users, installationLimits } = store;
  const { eventLimits } = store;
  const { schedules } = deps;
  const { allowedOrigins, heldRegistrations } = store;
  const { accounts, appSync, searches, acceptedEvents, selectedRuns } = deps;
  const held = { apps, allowedOrigins, heldRegistrations, appSync };
  const webhookReplaying = {
    publicUrl,
    fetchDocument: deps.fetchDocument,
    transmissions: store.transmissions,
    webhooks,
    webhookLog,
    webhookReplays: store.webhookReplays,
    backpressure,
    environments,
    transforms,
    acceptor,
    heldEvents,
    telemetry,
    eventMaxFutureMs,
  };
  return [
    ...environmentRoutes({ environments, functions, schedules, quotas }),
    ...environmentLimitRoutes({ environments, archive: config.archive }),
    ...storageRoutes({
      storageUses: new StorageUses({ hotStorage: store.hotStorage, archive: deps.archive }),
      environments,
      hasArchive: deps.archive !== undefined,
      retentionDays: config.retentionMs / DAY_MS,
    }),
    ...eventKeyRoutes({ eventKeys, environments }),
    ...installationLimitRoutes({ installationLimits, eventMaxBytes: config.eventMaxBytes }),
    ...eventCountRoutes({ eventCounts }),
    ...eventRoutes({ events: acceptedEvents, eventLists, runLists, listedRuns, runStates: deps.runStates, searches }),
    ...eventDecisionRoutes({
      events: acceptedEvents,
      explainedDecisions: new ExplainedDecisions({ ...store, ...deps.history, functions: functionTables }),
    }),
    ...sendEventRoutes({
      events: acceptedEvents,
      environments,
      acceptor,
      backpressure,
      eventMaxFutureMs,
      eventLimits,
      functionTables,
      evaluator: deps.evaluator,
    }),
    ...provenanceRoutes({ events: acceptedEvents, eventKeys, webhooks, webhookLog }),
    ...searchRoutes({ events: acceptedEvents, eventLists, eventCounts, runs, searches, functionTables }),
    ...bulkActionRoutes({
      bulkActions: store.bulkActions,
      selectedRuns,
      environments,
    }),
    ...runCountRoutes({ selectedRuns }),
    ...runMetadataRoutes({ runs, runParts, runMetadata }),
    ...runLogRoutes({ runs, runParts }),
    ...runRoutes({
      events,
      runs,
      runParts,
      runLists,
      listedRuns,
      searches,
      steps,
      functionTables: deps.functionTables,
      transitions: deps.transitions,
      retries: deps.retries,
      limitStatuses: deps.limitStatuses,
      traceUrlTemplate: config.traceUrlTemplate,
      runStates: deps.runStates,
    }),
    ...cancellationRoutes({ cancellations: store.cancellations, functionTables: deps.functionTables }),
    ...replayRoutes({
      replays: store.replays,
      replayPlanner: deps.replayPlanner,
      runLists,
      environments,
      functionTables: deps.functionTables,
      retentionMs: config.retentionMs,
    }),
    ...providerRoutes(),
    ...webhookStatsRoutes({ webhooks, webhookLog }),
    ...webhookRoutes({ webhooks, webhookLog, webhookIssues, webhookTraffic, environments, transforms, publicUrl }),
    ...webhookSecretRoutes({ webhooks, publicUrl }),
    ...webhookVersionRoutes({ webhooks, webhookVersions, transforms, publicUrl }),
    ...webhookActionRoutes({ webhooks, publicUrl }),
    ...webhookLogRoutes({
      publicUrl,
      fetchDocument: deps.fetchDocument,
      transmissions: store.transmissions,
      webhooks,
      webhookLog,
      requestLogWriter,
      backpressure,
      environments,
      transforms,
      acceptor,
      heldEvents,
      telemetry,
      eventMaxFutureMs,
    }),
    ...webhookReplayRoutes(webhookReplaying),
    ...webhookIssueRoutes({ ...webhookReplaying, webhookIssues }),
    ...heldEventRoutes({ heldEvents, environments, acceptor, backpressure }),
    ...transformRoutes({ transforms, eventMaxFutureMs }),
    ...apiKeyRoutes({ apiKeys: store.apiKeys, environments }),
    ...signingKeyRoutes({ signingKeys, environments }),
    ...auditRoutes({ auditLog, rejectionLog: store.rejectionLog }),
    ...userRoutes({ users, savedViews: store.savedViews, environments, accounts, publicUrl }),
    ...savedViewRoutes({ savedViews: store.savedViews }),
    ...appRoutes({ ...held, dev: config.dev, functions, schedules, expressionProblems, processes, quotas }),
    ...heldRegistrationRoutes(held),
    ...allowedOriginRoutes({ allowedOrigins, quotas }),
    ...deployRoutes({ deploys: store.deploys, functions }),
    ...appConnectionRoutes({ apps, connections: store.connections }),
    ...appCheckRoutes({
      apps,
      functions,
      connections: store.connections,
      signingKeys,
      environmentKinds,
      httpAgent,
      dev: config.dev,
    }),
    ...metricsRoutes({ metrics }),
    ...errorRoutes({ errorGroups: store.errorGroups, deploys: store.deploys, functionTables }),
    ...functionMetricsRoutes({ ...store, functions }),
    ...functionRoutes({
      keys: store.keys,
      runs,
      functions,
      cancellations: store.cancellations,
      admission: deps.admission,
      heldFunctions: store.heldFunctions,
      expressionProblems,
      missedTicks: store.missedTicks,
      schedules,
      environments,
      limitStatuses: deps.limitStatuses,
    }),
    ...overviewRoutes({
      backpressure,
      archiveHealth: deps.archiveHealth,
      queues: deps.queues,
      redis: store.redis,
      processes,
      metrics,
      functions,
      webhookIssues,
    }),
    ...statusRoutes({
      processes,
      metrics,
      heldEvents,
      heldRegistrations,
      webhookIssues,
      errorGroups: store.errorGroups,
      backpressure,
    }),
    ...healthCheckRoutes({
      config,
      redis: store.redis,
      processes,
      queues: deps.queues,
      backpressure,
      activeRuns: store.activeRuns,
      archiveHealth: deps.archiveHealth,
      secretKeyCheck: store.secretKeyCheck,
      webhookIssues,
      environments,
      heldRegistrations,
    }),
    ...invokeRoutes({ environments, acceptor, invocations: deps.invocations, backpressure, eventLimits }),
    ...signalRoutes({ acceptor, signalSender: deps.signalSender, eventLimits }),
    ...settingRoutes({ settings: config.settings }),
  ];
}

/** Routes that only users of the official SDKs know; they are not in the documentation of the API (docs/rest.md). */
export function officialRoutes(deps: ApiDeps): Route[] {
  const { store, history, acceptor, backpressure, invocations, functionTables, retries } = deps;
  const { environments, apps, functions, eventLimits } = store;
  const { runs, steps } = history;
  return [
    ...officialInvokeRoutes({ environments, acceptor, invocations, backpressure, eventLimits, functionTables }),
    ...officialListRoutes({ runs, steps, retries, apps, functions }),
  ];
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
