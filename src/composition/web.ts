/** Puts the web process together. */
import { createApp } from '../api/app.ts';
import type { Discovery } from '../api/apps/discovery.ts';
import { OriginCheck } from '../api/apps/origin-check.ts';
import { Registrar } from '../api/apps/registrar.ts';
import { claimSecretKey } from '../api/auth/reencrypt-secrets.ts';
import { ConnectionKeys } from '../api/connect/connection-keys.ts';
import { Gateway } from '../api/connect/gateway.ts';
import { CLOSE_MS } from '../api/connect/limits.ts';
import { WebSockets } from '../api/http/web-sockets.ts';
import { Readiness } from '../api/operations/readiness.ts';
import { Realtime } from '../api/realtime/realtime.ts';
import { RequestLogWriter } from '../api/receive/request-log-writer.ts';
import { WebhookWatcher } from '../api/receive/webhook-watcher.ts';
import { webhookReplayWork } from '../api/replays/webhook-replay-work.ts';
import { LiveRunStates } from '../api/rest/live-run-states.ts';
import { LiveStreams } from '../api/rest/live-streams.ts';
import { type Archive, createArchive } from '../archive/archive.ts';
import { DutyRunner } from '../duties/runner.ts';
import { DocumentFetcher } from '../functions/document-fetcher.ts';
import { HttpAgent } from '../functions/http-agent.ts';
import { SYNC_REQUEST_TIMEOUT_MS } from '../functions/sync-request.ts';
import { EventSearch } from '../history/event-search.ts';
import { createHistory, type History } from '../history/history.ts';
import { ArchiveHealth } from '../jobs/archive/archive-health.ts';
import { BulkRounds } from '../jobs/bulk/bulk-rounds.ts';
import { Backpressure } from '../jobs/queues/backpressure.ts';
import { ReplayPlanner } from '../jobs/replays/planner.ts';
import { storedGauges } from '../jobs/telemetry/stored-gauges.ts';
import { IssueTeller } from '../jobs/webhooks/issue-teller.ts';
import { type Environment, ownerOfName } from '../model/environment.ts';
import { newId } from '../model/ids.ts';
import { connect, type Redis } from '../store/redis/connection.ts';
import { connectSubscriber, type Subscriber } from '../store/redis/pub-sub.ts';
import { createStore, type Store } from '../store/store.ts';
import { WebhookDirectory } from '../store/webhooks/webhook-directory.ts';
import { createTransforms, type Transforms, traceTransforms } from '../transforms/transforms.ts';
import { retentionsOf } from './archive.ts';
import type { Core } from './core.ts';
import { createDiscovery } from './discovery.ts';
import { createIngestion, type Ingestion } from './ingestion.ts';
import { createRunServices } from './runs.ts';

export interface WebStore {
  /** For commands. They fail at once when Redis is away. */
  redis: Redis;
  /** For subscriptions alone. */
  subscriber: Subscriber;
  /** For realtime messages alone, however many; connects when there are subscribers. */
  realtimeSubscriber: Subscriber;
  store: Store;
  /** undefined: Redis keeps everything. */
  archive: Archive | undefined;
  history: History;
  transforms: Transforms;
  webhookDirectory: WebhookDirectory;
  /** Resolves once SECRET_KEY has decrypted what Redis has. */
  secretKeyClaimed: Promise<void>;
  /** Resolves once everything that the process keeps in memory has been read. */
  firstReads: Promise<unknown>;
}

/** Connects, and starts to read what the process keeps in memory.
 *  @param fail called when this Redis is not one to use, or SECRET_KEY does not decrypt what it has */
export function openWebStore({ config, log, recorder, tracing }: Core, fail: (error: Error) => void): WebStore {
  const redis = connect(config, 'answer-soon', log);
  const store = createStore(redis, config);
  const archive = createArchive(config, retentionsOf(config, store), log);
  const history = createHistory(store, archive);
  const subscribing = { redis, key: store.keys.cacheInvalidation };
  const subscriber = connectSubscriber(config, subscribing, log);
  const realtimeSubscriber = connectSubscriber(config, { ...subscribing, lazy: true }, log);
  const { transformTimeoutMs: timeoutMs, transformThreads: threads } = config;
  const transforms = traceTransforms(createTransforms({ timeoutMs, threads, log, recorder }), tracing);
  const webhookDirectory = new WebhookDirectory(store.webhooks, {
    // An installation without webhooks needs no process for them.
    onSome: () => transforms.start(),
    onGone: (id) => transforms.evict(id),
  });
  // First: a new installation has nothing but its layout.
  const partitionsRead = store.partitions.follow(fail);
  const secretKeyClaimed = partitionsRead.then(() => claimSecretKey(store, log));
  secretKeyClaimed.catch(fail);
  const firstReads = Promise.all([
    partitionsRead,
    secretKeyClaimed,
    webhookDirectory.follow(subscriber),
    store.environments.follow(subscriber),
    store.apiKeys.follow(subscriber),
    store.eventKeys.follow(subscriber),
    store.installationLimits.follow(subscriber),
  ]);
  return {
    redis,
    subscriber,
    realtimeSubscriber,
    store,
    archive,
    history,
    transforms,
    webhookDirectory,
    secretKeyClaimed,
    firstReads,
  };
}

export interface Web {
  app: ReturnType<typeof createApp>;
  duties: DutyRunner;
  gateway: Gateway;
  ingestion: Ingestion;
  readiness: Readiness;
  webSockets: WebSockets;
  /** Ends responses and connections that have no end of their own. */
  endStreams(): void;
  backpressure: Backpressure;
  archiveHealth: ArchiveHealth;
  requestLogWriter: RequestLogWriter;
  webhookWatcher: WebhookWatcher;
  bulkRounds: BulkRounds;
  /** Sends requests to apps. */
  httpAgent: HttpAgent;
  /** undefined: nothing looks for apps. */
  discovery: Discovery | undefined;
  documentFetcher: DocumentFetcher;
}

export async function createWeb(core: Core, opened: WebStore): Promise<Web> {
  const { config, log, metrics, tracing } = core;
  const { redis, subscriber, realtimeSubscriber, store, archive, history } = opened;
  const { transforms, webhookDirectory, firstReads } = opened;
  const queueOptions = { connection: redis, skipVersionCheck: true };
  const ingestion = await createIngestion(core, store, queueOptions);
  const { queues, functions, telemetry, acceptor } = ingestion;
  const {
    transitions,
    retries,
    limitStatuses,
    runStates,
    invocations,
    callCheckpoints,
    endpoints,
    signalSender,
    admission,
    timeoutTimers,
    schedules,
    looks,
  } = createRunServices(core, store, history, ingestion);
  const duties = new DutyRunner({ locks: store.locks, recorder: core.recorder, log });
  const backpressure = new Backpressure({ redis, queues, thresholds: config.thresholds, log });
  const roomMs = () => backpressure.roomMs;
  const archiveHealth = new ArchiveHealth({ archive, archiveStatus: store.archiveStatus, roomMs, log });
  const httpAgent = new HttpAgent({ ...config, timeoutMs: SYNC_REQUEST_TIMEOUT_MS });
  const readiness = new Readiness({ redis, queues, firstReads });
  const requestLogWriter = new RequestLogWriter(store.webhookLog, telemetry, log);
  const webhookWatcher = new WebhookWatcher({
    ...store,
    issueTeller: new IssueTeller({ ...store, acceptor, publicUrl: config.publicUrl }),
    telemetry,
    log,
  });
  const documentFetcher = new DocumentFetcher(config.outbound);
  const replaysOfWebhooks = webhookReplayWork({
    publicUrl: config.publicUrl,
    fetchDocument: documentFetcher.fetch,
    transmissions: store.transmissions,
    eventMaxFutureMs: config.eventMaxFutureMs,
    environments: store.environments,
    transforms,
    acceptor,
    heldEvents: store.heldEvents,
    telemetry,
    webhooks: store.webhooks,
    webhookLog: history.webhookLog,
    webhookReplays: store.webhookReplays,
    backpressure,
    log,
  });
  const liveFeed = store.liveFeed(subscriber);
  const liveStreams = new LiveStreams(liveFeed, new LiveRunStates({ listed: store.runLists.listed, runStates }));
  const webSockets = new WebSockets();
  const feed = store.realtimeFeed(realtimeSubscriber);
  const realtime = new Realtime({ config, store, history, feed, liveFeed, webSockets });
  const registrar = new Registrar({
    quotas: config.quotas,
    functionLimits: config.functionLimits,
    unsupported: config.unsupported,
    apps: store.apps,
    functions: store.functions,
    heldRegistrations: store.heldRegistrations,
    originCheck: new OriginCheck({ ...config, ...store, log }),
    deploys: store.deploys,
    expressionProblems: store.expressionProblems,
    looks,
    admission,
    timeoutTimers,
    schedules,
    log,
  });
  const discovery = createDiscovery(core, store, { registrar, backpressure, httpAgent });
  const gateway = new Gateway({
    gatewayId: newId(),
    registrar,
    apps: store.apps,
    connections: store.connections,
    sessions: store.connectSessions,
    connectionKeys: new ConnectionKeys({
      dev: config.dev,
      signingKeys: store.signingKeys,
      environments: store.environments,
    }),
    calls: store.connectCalls,
    channels: store.connectChannels(subscriber),
    leaseMs: config.connect.leaseMs,
    callsMax: config.connect.calls,
    connectionsMax: config.connect.connections,
    webSockets,
    ownerOf: (env) => ownerOfName(store.environments.find(env)),
    isLive: (env) => isLive(store.environments.find(env)),
    log,
  });
  const endStreams = () => {
    for (const part of [liveStreams, realtime, webSockets]) part.close();
    void gateway.drain(Math.max(0, config.shutdownGraceMs - config.shutdownDrainMs - CLOSE_MS));
  };
  metrics?.setGaugeSources({
    eventsUncommitted: () => acceptor.unansweredEvents,
    transforms: () => transforms.usage(),
    appConnections: () => gateway.connectionCount,
    archiveUp: () => archiveHealth.up,
    stored: storedGauges(store, queues, archive?.hotMs),
  });
  const app = createApp({
    config,
    store,
    archive,
    history,
    webhookDirectory,
    functionTables: functions,
    transforms,
    acceptor,
    backpressure,
    archiveHealth,
    readiness,
    duties,
    requestLogWriter,
    webhookWatcher,
    telemetry,
    transitions,
    retries,
    limitStatuses,
    evaluator: ingestion.evaluator,
    runStates,
    replayPlanner: new ReplayPlanner({
      history,
      search: new EventSearch({ ...store, archive }),
      functions,
      evaluator: ingestion.evaluator,
    }),
    invocations,
    callCheckpoints,
    endpoints,
    signalSender,
    admission,
    httpAgent,
    fetchDocument: documentFetcher.fetch,
    queues,
    liveStreams,
    registrar,
    schedules,
    gateway,
    realtime,
    tracing,
    metrics,
    log,
  });
  return {
    app,
    duties,
    gateway,
    ingestion,
    readiness,
    webSockets,
    endStreams,
    backpressure,
    archiveHealth,
    requestLogWriter,
    webhookWatcher,
    bulkRounds: new BulkRounds({
      works: [replaysOfWebhooks],
      environments: store.environments,
      locks: store.locks,
      log,
    }),
    httpAgent,
    discovery,
    documentFetcher,
  };
}

function isLive(environment: Environment | undefined): boolean {
  return environment !== undefined && environment.archivedAt === undefined;
}
