/** Composes the web process. */
import { createApp } from '../api/app.ts';
import { Activation } from '../api/apps/activation.ts';
import { AppChanges } from '../api/apps/app-changes.ts';
import { Discovery } from '../api/apps/discovery.ts';
import { KnownPaths } from '../api/apps/known-paths.ts';
import { localAddress } from '../api/apps/mode-hints.ts';
import { OriginCheck } from '../api/apps/origin-check.ts';
import { Registrar } from '../api/apps/registrar.ts';
import { AppSync } from '../api/apps/sync.ts';
import { Accounts } from '../api/auth/accounts.ts';
import { IdentityProviders } from '../api/auth/oidc/identity-providers.ts';
import { ConnectionKeys } from '../api/connect/connection-keys.ts';
import { Gateway } from '../api/connect/gateway.ts';
import { WebSockets } from '../api/http/web-sockets.ts';
import { Readiness } from '../api/operations/readiness.ts';
import type { ApiServices } from '../api/parts.ts';
import { Realtime } from '../api/realtime/realtime.ts';
import { WebhookFilters } from '../api/receive/filter-webhook.ts';
import { LargeBodies } from '../api/receive/large-bodies.ts';
import { WebhookOrders } from '../api/receive/order-webhook.ts';
import { RequestLogWriter } from '../api/receive/request-log-writer.ts';
import { WebhookWatcher } from '../api/receive/webhook-watcher.ts';
import { ReconciliationRounds } from '../api/reconciliation/reconciliation-rounds.ts';
import { webhookReplayWork } from '../api/replays/webhook-replay-work.ts';
import { LiveRunStates } from '../api/rest/live-run-states.ts';
import { LiveStreams } from '../api/rest/live-streams.ts';
import { DutyRunner } from '../duties/runner.ts';
import { DocumentFetcher } from '../functions/document-fetcher.ts';
import { HttpAgent } from '../functions/http-agent.ts';
import { ProviderClient } from '../functions/provider-client.ts';
import { SYNC_REQUEST_TIMEOUT_MS } from '../functions/sync-request.ts';
import { AcceptedEvents } from '../history/accepted-events.ts';
import { StorageUses } from '../history/storage-use.ts';
import { ArchiveHealth } from '../jobs/archive/archive-health.ts';
import { BulkRounds } from '../jobs/bulk/bulk-rounds.ts';
import { ClockMoves } from '../jobs/dev-clock/clock-moves.ts';
import { ExplainedDecisions } from '../jobs/flow-control/explained-decisions.ts';
import type { FunctionTables } from '../jobs/functions/function-tables.ts';
import { Backpressure } from '../jobs/queues/backpressure.ts';
import { storedGauges } from '../jobs/telemetry/stored-gauges.ts';
import { type Environment, ownerOfName } from '../model/environment.ts';
import { newId } from '../model/ids.ts';
import type { LiveFeed } from '../store/telemetry/live-updates.ts';
import type { AlertParts } from './alerts.ts';
import { retentionDaysOf } from './archive.ts';
import type { Definitions } from './container.ts';
import type { IngestionNeeds, IngestionParts } from './ingestion.ts';
import type { RunServices } from './runs.ts';
import type { SelectionParts } from './selection.ts';
import type { WebStore } from './web-store.ts';

interface AppParts extends Pick<ApiServices, 'httpAgent' | 'activation' | 'registrar' | 'appSync'> {
  appChanges: AppChanges;
  gateway: Gateway;
  /** undefined if discovery is off. */
  discovery: Discovery | undefined;
}

interface WebhookParts
  extends Pick<ApiServices, 'requestLogWriter' | 'webhookFilters' | 'webhookOrders' | 'largeBodies' | 'fetchDocument'> {
  webhookWatcher: WebhookWatcher;
  documentFetcher: DocumentFetcher;
  /** Rounds of webhook replays. */
  bulkRounds: BulkRounds;
  providerClient: ProviderClient;
  reconciliationRounds: ReconciliationRounds;
}

interface ServerParts
  extends Pick<
    ApiServices,
    | 'backpressure'
    | 'archiveHealth'
    | 'accounts'
    | 'identityProviders'
    | 'acceptedEvents'
    | 'explainedDecisions'
    | 'storageUses'
    | 'clockMoves'
  > {
  duties: DutyRunner;
  roomMs: () => number | undefined;
  readiness: Readiness;
  liveUpdateFeed: LiveFeed;
  liveStreams: LiveStreams;
  webSockets: WebSockets;
  realtime: Realtime;
  /** The tables in memory, which jobs call `functions`; routes also use stored functions under that name. */
  functionTables: FunctionTables;
  app: ReturnType<typeof createApp>;
}

export interface WebParts extends AppParts, WebhookParts, ServerParts {}

type Shared = Omit<WebStore, 'store' | 'secretKeyClaimed' | 'close'>;
export type WebNeeds = IngestionNeeds & IngestionParts & RunServices & SelectionParts & AlertParts & Shared;
type Parts = WebNeeds & WebParts;

const APPS: Definitions<AppParts, WebNeeds & WebhookParts & ServerParts> = {
  httpAgent: {
    build: ({ config: { outbound } }) => new HttpAgent({ outbound, timeoutMs: SYNC_REQUEST_TIMEOUT_MS }),
    close: (agent) => agent.destroy(),
  },
  appChanges: ({ config: { quotas }, store, admission, timeoutTimers, schedules }) =>
    new AppChanges({ ...store, quotas, admission, timeoutTimers, schedules }),
  activation: ({ config: { quotas }, store, appChanges, timerChecks, recorder, log }) =>
    new Activation({ ...store, quotas, appChanges, timerChecks, recorder, log }),
  registrar,
  appSync: ({ config, store, registrar, backpressure, httpAgent }) =>
    new AppSync({ ...store, registrar, backpressure, httpAgent, dev: config.dev, address: localAddress(config) }),
  gateway,
  discovery,
};

/** Dependencies for processing requests that do not come from the provider itself. */
function requestProcessing(parts: WebhookParts & WebNeeds & Pick<ServerParts, 'backpressure' | 'functionTables'>) {
  const { transforms, acceptor, telemetry, backpressure, fetchDocument, largeBodies, functionTables, config } = parts;
  const { webhookFilters, webhookOrders } = parts;
  const { publicUrl, eventMaxFutureMs } = config;
  const services = { transforms, acceptor, telemetry, backpressure, fetchDocument, largeBodies, functionTables };
  return { ...services, webhookFilters, webhookOrders, publicUrl, eventMaxFutureMs };
}

const WEBHOOKS: Definitions<WebhookParts, WebNeeds & AppParts & ServerParts> = {
  requestLogWriter: {
    build: ({ store, telemetry, log }) => new RequestLogWriter({ webhookLog: store.webhookLog, telemetry, log }),
    close: (writer) => writer.flush(),
  },
  webhookFilters: () => new WebhookFilters(),
  webhookOrders: () => new WebhookOrders(),
  largeBodies: {
    build: ({ bodyStore, bodyMemory, config }) =>
      new LargeBodies({
        memory: bodyMemory,
        bodies: bodyStore,
        publicUrl: config.publicUrl,
        retentionDays: retentionDaysOf(config),
      }),
    close: (bodies) => bodies.close(),
  },
  webhookWatcher: (parts) => new WebhookWatcher(parts),
  documentFetcher: {
    build: ({ config }) => new DocumentFetcher(config.outbound),
    close: (fetcher) => fetcher.close(),
  },
  fetchDocument: ({ documentFetcher }) => documentFetcher.fetch,
  bulkRounds(parts) {
    const { store, history, log } = parts;
    const kindsOfWork = [
      webhookReplayWork({ ...store, ...requestProcessing(parts), webhookLog: history.webhookLog, log }),
    ];
    return new BulkRounds({ kindsOfWork, environments: store.environments, locks: store.locks, log });
  },
  providerClient: {
    build: ({ config }) => new ProviderClient(config.outbound),
    close: (client) => client.close(),
  },
  reconciliationRounds(parts) {
    const { store, webhookDirectory, requestLogWriter, providerClient, log } = parts;
    const processing = requestProcessing(parts);
    return new ReconciliationRounds({
      ...store,
      ...processing,
      webhookDirectory,
      requestLogWriter,
      providerClient,
      log,
    });
  },
};

const SERVER: Definitions<ServerParts, WebNeeds & AppParts & WebhookParts> = {
  duties: ({ locks, recorder, log }) => new DutyRunner({ locks, recorder, log }),
  backpressure: ({ redis, queues, config, log }) =>
    new Backpressure({ redis, queues, thresholds: config.thresholds, log }),
  roomMs:
    ({ backpressure }) =>
    () =>
      backpressure.roomMs,
  archiveHealth: (parts) => new ArchiveHealth(parts),
  readiness: (parts) => new Readiness(parts),
  liveUpdateFeed: ({ store, subscriber }) => store.liveFeed(subscriber),
  liveStreams: ({ liveUpdateFeed, runLists: { listed }, runStates }) =>
    new LiveStreams(liveUpdateFeed, new LiveRunStates({ listed, runStates })),
  webSockets: () => new WebSockets(),
  realtime: ({ config, store, history, realtimeSubscriber, liveUpdateFeed: liveFeed, webSockets }) => {
    const feed = store.realtimeFeed(realtimeSubscriber);
    return new Realtime({ config, store, history, feed, liveFeed, webSockets });
  },
  accounts: (parts) => new Accounts(parts),
  identityProviders: {
    build: ({ config, store }) => new IdentityProviders({ config, ...store }),
    close: (providers) => providers.close(),
  },
  acceptedEvents: ({ history, queuedEvents }) => new AcceptedEvents({ stored: history.events, queued: queuedEvents }),
  functionTables: ({ functions }) => functions,
  explainedDecisions: ({ history, functions, triggerHistory }) =>
    new ExplainedDecisions({ ...history, functions, triggerHistory }),
  storageUses: ({ hotStorage, archive }) => new StorageUses({ hotStorage, archive }),
  clockMoves(parts) {
    const { redis, keys, locks, queues, activeRuns, offloadedRuns, offloadedRunAlarms, environments, clock } = parts;
    const deps = { redis, keys, locks, queues, activeRuns, offloadedRuns, offloadedRunAlarms, environments, clock };
    return parts.devClock && new ClockMoves({ ...deps, devClock: parts.devClock });
  },
  app: (parts) => createApp(parts),
};

export const WEB: Definitions<WebParts, WebNeeds> = { ...APPS, ...WEBHOOKS, ...SERVER };

function registrar(parts: Parts): Registrar {
  const { config, store, log, timerChecks, appChanges, httpAgent } = parts;
  const { quotas, functionLimits, unsupported } = config;
  const knownPaths = new KnownPaths({ ...store, httpAgent });
  const originCheck = new OriginCheck({ ...config, ...store, knownPaths, log });
  return new Registrar({ ...store, quotas, functionLimits, unsupported, originCheck, appChanges, timerChecks, log });
}

function gateway(parts: Parts): Gateway {
  const { config, store, registrar, callCheckpoints, subscriber, webSockets, log } = parts;
  const { environments, signingKeys } = store;
  return new Gateway({
    gatewayId: newId(),
    registrar,
    apps: store.apps,
    connections: store.connections,
    sessions: store.connectSessions,
    connectionKeys: new ConnectionKeys({ dev: config.dev, signingKeys, environments }),
    calls: store.connectCalls,
    callCheckpoints,
    channels: store.connectChannels(subscriber),
    leaseMs: config.connect.leaseMs,
    callsMax: config.connect.calls,
    connectionsMax: config.connect.connections,
    webSockets,
    ownerOf: (env) => ownerOfName(environments.find(env)),
    isLive: (env) => isLive(environments.find(env)),
    log,
  });
}

/** Finds apps on this machine in dev mode. */
function discovery({ config, store, appSync, registrar, httpAgent, log }: Parts): Discovery | undefined {
  const { discoveryPorts: ports } = config;
  if (ports === undefined) return undefined;
  const agent = httpAgent.for('production');
  return new Discovery({ ports, address: localAddress(config), apps: store.apps, appSync, registrar, agent, log });
}

function isLive(environment: Environment | undefined): boolean {
  return environment !== undefined && environment.archivedAt === undefined;
}

/** Makes the values available to scrapes. */
export function setWebGauges(parts: Parts): void {
  const { processMetrics, acceptor, transforms, gateway, archiveHealth, queues } = parts;
  processMetrics?.setGaugeSources({
    eventsUncommitted: () => acceptor.unansweredEvents,
    transforms: () => transforms.usage(),
    appConnections: () => gateway.connectionCount,
    archiveUp: () => archiveHealth.up,
    stored: storedGauges(parts, queues, parts.archive?.hotMs),
  });
}
