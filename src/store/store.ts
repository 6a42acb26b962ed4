/** Everything that is kept, behind one connection. */
import type { Config } from '../config.ts';
import { Sealer } from '../model/auth/seal.ts';
import { Apps } from './apps/apps.ts';
import { ExpressionProblems } from './apps/expression-problems.ts';
import { Functions } from './apps/functions.ts';
import { ApiKeys } from './auth/api-keys.ts';
import { AuditLog } from './auth/audit-log.ts';
import { EventKeys } from './auth/event-keys.ts';
import { OneTimeTokens } from './auth/one-time-tokens.ts';
import { RejectionLog } from './auth/rejection-log.ts';
import { SecretKeyCheck } from './auth/secret-key-check.ts';
import { Sessions } from './auth/sessions.ts';
import { SignInThrottle } from './auth/sign-in-throttle.ts';
import { SigningKeys } from './auth/signing-keys.ts';
import { Users } from './auth/users.ts';
import { EnvironmentData } from './environments/environment-data.ts';
import { EnvironmentKinds } from './environments/environment-kinds.ts';
import { Environments } from './environments/environments.ts';
import { InstallationLimits } from './environments/installation-limits.ts';
import { Deduplication } from './events/deduplication.ts';
import { EventCounts } from './events/event-counts.ts';
import { EventLists } from './events/event-lists.ts';
import { EventRecords } from './events/event-records.ts';
import { EventSources } from './events/event-sources.ts';
import { Events } from './events/events.ts';
import { EventsByMinute } from './events/events-by-minute.ts';
import { CacheInvalidation } from './redis/cache-invalidation.ts';
import type { Redis } from './redis/connection.ts';
import { keyspace } from './redis/keyspace.ts';
import { Locks } from './redis/locks.ts';
import { ActiveRuns } from './runs/active-runs.ts';
import { EndedRunIndex } from './runs/ended-run-index.ts';
import { RunLists } from './runs/run-lists.ts';
import { Runs } from './runs/runs.ts';
import { Steps } from './runs/steps.ts';
import { Waits } from './runs/waits.ts';
import { LiveFeed, LiveUpdatePublisher } from './telemetry/live-updates.ts';
import { Metrics } from './telemetry/metrics.ts';
import { Processes } from './telemetry/processes.ts';
import { HeldEvents } from './webhooks/held-events.ts';
import { WebhookLog } from './webhooks/webhook-log.ts';
import { Webhooks } from './webhooks/webhooks.ts';

export interface Store {
  redis: Redis;
  /** First part of BullMQ's keys. */
  queuePrefix: string;
  cacheInvalidation: CacheInvalidation;
  environments: Environments;
  environmentKinds: EnvironmentKinds;
  environmentData: EnvironmentData;
  locks: Locks;
  installationLimits: InstallationLimits;
  eventKeys: EventKeys;
  deduplication: Deduplication;
  events: Events;
  eventLists: EventLists;
  eventCounts: EventCounts;
  functions: Functions;
  expressionProblems: ExpressionProblems;
  apps: Apps;
  runs: Runs;
  runLists: RunLists;
  activeRuns: ActiveRuns;
  steps: Steps;
  waits: Waits;
  webhooks: Webhooks;
  webhookLog: WebhookLog;
  heldEvents: HeldEvents;
  apiKeys: ApiKeys;
  users: Users;
  sessions: Sessions;
  oneTimeTokens: OneTimeTokens;
  signInThrottle: SignInThrottle;
  signingKeys: SigningKeys;
  secretKeyCheck: SecretKeyCheck;
  auditLog: AuditLog;
  rejectionLog: RejectionLog;
  metrics: Metrics;
  processes: Processes;
  liveUpdates: LiveUpdatePublisher;
  /** @param subscriber a connection used for nothing else than listening */
  liveFeed(subscriber: Redis): LiveFeed;
}

export function createStore(redis: Redis, config: Config): Store {
  const { keyPrefix, retentionMs, eventKeys, webhookLogSize } = config;
  const keys = keyspace(keyPrefix);
  const changes = new CacheInvalidation(redis, keys);
  const environments = new Environments(redis, keys, changes);
  const users = new Users(redis, keys);
  const sealer = new Sealer(config.secretKey, config.secretKeyFallback);
  const records = new EventRecords(redis, keys, new EventSources(redis, keys), retentionMs);
  const slots = new EventsByMinute(redis, keys, retentionMs);
  const events = new Events(redis, keys, records, slots, retentionMs);
  const runs = new Runs(redis, keys, retentionMs);
  const signingKeys = new SigningKeys(redis, keys, environments, sealer, givenSigningKeys(config));
  return {
    redis,
    queuePrefix: keys.queues,
    cacheInvalidation: changes,
    environments,
    environmentKinds: new EnvironmentKinds(environments),
    environmentData: new EnvironmentData(redis, keyPrefix),
    locks: new Locks(redis, keys),
    installationLimits: new InstallationLimits(redis, keys, changes),
    eventKeys: new EventKeys(redis, keys, changes, eventKeys),
    deduplication: new Deduplication(redis, keys),
    events,
    eventLists: new EventLists(redis, keys, { events, records, slots }, retentionMs),
    eventCounts: new EventCounts(redis, keys, slots, retentionMs),
    functions: new Functions(redis, keys),
    expressionProblems: new ExpressionProblems(redis, keys),
    apps: new Apps(redis, keys),
    runs,
    runLists: new RunLists(redis, keys, new EndedRunIndex(redis, keys)),
    activeRuns: new ActiveRuns(redis, keys),
    steps: new Steps(redis, keys, retentionMs),
    waits: new Waits(redis, keys),
    webhooks: new Webhooks(redis, keys, changes),
    webhookLog: new WebhookLog(redis, keys, webhookLogSize),
    heldEvents: new HeldEvents(redis, keys, retentionMs),
    apiKeys: new ApiKeys(redis, keys, changes),
    users,
    sessions: new Sessions(redis, keys, users),
    oneTimeTokens: new OneTimeTokens(redis, keys),
    signInThrottle: new SignInThrottle(redis, keys),
    signingKeys,
    secretKeyCheck: new SecretKeyCheck(redis, keys, sealer, signingKeys),
    auditLog: new AuditLog(redis, keys),
    rejectionLog: new RejectionLog(redis, keys),
    metrics: new Metrics(redis, keys),
    processes: new Processes(redis, keys),
    liveUpdates: new LiveUpdatePublisher(redis, keys),
    liveFeed: (subscriber) => new LiveFeed(subscriber, keys),
  };
}

function givenSigningKeys({ signingKey, signingKeyFallback }: Config) {
  return signingKey === undefined ? undefined : { current: signingKey, fallback: signingKeyFallback };
}
