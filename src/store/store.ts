/** Everything that is kept, behind one connection. */
import type { Config } from '../config.ts';
import { Sealer } from '../model/seal.ts';
import { Account } from './account.ts';
import { ActiveRuns } from './active-runs.ts';
import { ApiKeys } from './api-keys.ts';
import { Apps } from './apps.ts';
import { Audit } from './audit.ts';
import { Changes } from './changes.ts';
import { Dedup } from './dedup.ts';
import { EnvironmentData } from './environment-data.ts';
import { EnvironmentKinds } from './environment-kinds.ts';
import { Environments } from './environments.ts';
import { EventCounts } from './event-counts.ts';
import { EventKeys } from './event-keys.ts';
import { EventLists } from './event-lists.ts';
import { EventRecords } from './event-records.ts';
import { EventSlots } from './event-slots.ts';
import { EventSources } from './event-sources.ts';
import { Events } from './events.ts';
import { ExpressionProblems } from './expression-problems.ts';
import { Functions } from './functions.ts';
import { HeldEvents } from './held-events.ts';
import { keyspace } from './keyspace.ts';
import { Links } from './links.ts';
import { LiveFeed, LiveNews } from './live.ts';
import { Locks } from './locks.ts';
import { Metrics } from './metrics.ts';
import { Processes } from './processes.ts';
import type { Redis } from './redis.ts';
import { Refusals } from './refusals.ts';
import { RunLists } from './run-lists.ts';
import { RunSlots } from './run-slots.ts';
import { Runs } from './runs.ts';
import { SecretKeyCheck } from './secret-key-check.ts';
import { Sessions } from './sessions.ts';
import { SignInThrottle } from './sign-in-throttle.ts';
import { SigningKeys } from './signing-keys.ts';
import { Steps } from './steps.ts';
import { Users } from './users.ts';
import { Waits } from './waits.ts';
import { WebhookLog } from './webhook-log.ts';
import { Webhooks } from './webhooks.ts';

export interface Store {
  redis: Redis;
  /** First part of BullMQ's keys. */
  queuePrefix: string;
  changes: Changes;
  environments: Environments;
  environmentKinds: EnvironmentKinds;
  environmentData: EnvironmentData;
  locks: Locks;
  account: Account;
  eventKeys: EventKeys;
  dedup: Dedup;
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
  links: Links;
  signInThrottle: SignInThrottle;
  signingKeys: SigningKeys;
  secretKeyCheck: SecretKeyCheck;
  audit: Audit;
  refusals: Refusals;
  metrics: Metrics;
  processes: Processes;
  liveNews: LiveNews;
  /** @param subscriber a connection used for nothing else than listening */
  liveFeed(subscriber: Redis): LiveFeed;
}

export function createStore(redis: Redis, config: Config): Store {
  const { keyPrefix, retentionMs, eventKeys, webhookLogSize } = config;
  const keys = keyspace(keyPrefix);
  const changes = new Changes(redis, keys);
  const environments = new Environments(redis, keys, changes);
  const users = new Users(redis, keys);
  const sealer = new Sealer(config.secretKey, config.secretKeyFallback);
  const records = new EventRecords(redis, keys, new EventSources(redis, keys), retentionMs);
  const slots = new EventSlots(redis, keys, retentionMs);
  const events = new Events(redis, keys, records, slots, retentionMs);
  const runs = new Runs(redis, keys, retentionMs);
  const signingKeys = new SigningKeys(redis, keys, environments, sealer, givenSigningKeys(config));
  return {
    redis,
    queuePrefix: keys.queues,
    changes,
    environments,
    environmentKinds: new EnvironmentKinds(environments),
    environmentData: new EnvironmentData(redis, keyPrefix),
    locks: new Locks(redis, keys),
    account: new Account(redis, keys, changes),
    eventKeys: new EventKeys(redis, keys, changes, eventKeys),
    dedup: new Dedup(redis, keys),
    events,
    eventLists: new EventLists(redis, keys, { events, records, slots }, retentionMs),
    eventCounts: new EventCounts(redis, keys, slots, retentionMs),
    functions: new Functions(redis, keys),
    expressionProblems: new ExpressionProblems(redis, keys),
    apps: new Apps(redis, keys),
    runs,
    runLists: new RunLists(redis, keys, new RunSlots(redis, keys)),
    activeRuns: new ActiveRuns(redis, keys),
    steps: new Steps(redis, keys, retentionMs),
    waits: new Waits(redis, keys),
    webhooks: new Webhooks(redis, keys, changes),
    webhookLog: new WebhookLog(redis, keys, webhookLogSize),
    heldEvents: new HeldEvents(redis, keys, retentionMs),
    apiKeys: new ApiKeys(redis, keys, changes),
    users,
    sessions: new Sessions(redis, keys, users),
    links: new Links(redis, keys),
    signInThrottle: new SignInThrottle(redis, keys),
    signingKeys,
    secretKeyCheck: new SecretKeyCheck(redis, keys, sealer, signingKeys),
    audit: new Audit(redis, keys),
    refusals: new Refusals(redis, keys),
    metrics: new Metrics(redis, keys),
    processes: new Processes(redis, keys),
    liveNews: new LiveNews(redis, keys),
    liveFeed: (subscriber) => new LiveFeed(subscriber, keys),
  };
}

function givenSigningKeys({ signingKey, signingKeyFallback }: Config) {
  return signingKey === undefined ? undefined : { current: signingKey, fallback: signingKeyFallback };
}
