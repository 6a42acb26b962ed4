/** Every key in Redis, by the thing it holds. */
import type { Ending, RunGroup } from '../../model/runs/run.ts';

export interface Keyspace {
  /** hash: rest of an event's ID → the event, as text (model/events/event-encoding.ts), or nothing where it is kept apart; of the slice of time
   *  that the IDs begin with */
  eventBucket(env: string, slice: string): string;
  /** string: an event that is kept longer than its bucket, or apart from it, as text */
  keptEvent(env: string, id: string): string;
  /** hash: source of events → the number that stands for it */
  eventSources(env: string): string;
  /** string: how often the event was sent again */
  duplicates(env: string, id: string): string;
  /** zset: IDs of events of the name that are wholly ingested, by time of receipt */
  eventIndex(env: string, name: string): string;
  /** hash: name → how many events of it in the indexes were received in the minute that begins then (Unix milliseconds); and "": all */
  eventSlot(env: string, minute: number): string;
  /** zset: the minutes that have a slot, by when they begin */
  eventMinutes(env: string): string;
  /** zset: names of events, by when the last of that name was received */
  eventNames(env: string): string;
  /** string: internal ID of the newest event to which its sender gave this ID */
  eventOfId(env: string, id: string): string;
  /** string: the ID that the first event with this deduplication ID was given, and "+" once that event is enqueued */
  dedup(env: string, id: string): string;
  /** hash: a run; the scripts make the keys of its parts, which follow, from this one */
  run(env: string, id: string): string;
  /** hash: hashed step ID → memo, as JSON */
  memos(env: string, runId: string): string;
  /** list: hashed IDs of the finished steps, in the order of their completion */
  stack(env: string, runId: string): string;
  /** hash: hashed ID of a step that has begun and is not finished → what it is, as JSON */
  pending(env: string, runId: string): string;
  /** list: attempts and steps, in the order of their ends, as JSON */
  history(env: string, runId: string): string;
  /** zset: `<env>/<run ID>` of runs that have not ended, by when to look after them */
  activeRuns: string;
  /** zset: IDs of the environment's runs that have not ended, by time of creation */
  activeRunsOf(env: string): string;
  /** list: `<run ID><ms since its minute began>` of the environment's runs that have ended so, in the order of their ends; of those that were
   *  created in `<length>:<begin>`, a stretch of time (ms) */
  runSlot(env: string, ending: Ending['status'], stretch: string): string;
  /** zset: the minutes that have such a slot, by when they begin */
  runMinutes(env: string, ending: Ending['status']): string;
  /** hash: `<run ID>/<step>` → what is waited for, as JSON; of one event name, and of no value that the event must have */
  waits(env: string, eventName: string): string;
  /** hash: the same, of one field and the one value that the event must have there, for which the digest stands (model/runs/wait-index.ts) */
  waitsByValue(env: string, digest: string, eventName: string): string;
  /** hash: path of a field that waits for the name look at, as JSON → how many do */
  waitPaths(env: string, eventName: string): string;
  /** hash: `<run ID>/<step>` of the run's waits → where they are, as JSON; follows from the run's key */
  waitsOf(env: string, runId: string): string;
  /** zset: IDs of a function's runs that have not ended, or have ended so, by time of creation */
  runIndex(env: string, group: RunGroup, functionId: string): string;
  /** hash: rest of an event's ID → IDs of the runs that it caused, one after the other, in the order of their creation; of the slice of time
   *  that the events' IDs begin with */
  eventRuns(env: string, slice: string): string;
  /** string: IDs of further runs that it caused, made long after */
  lateEventRuns(env: string, eventId: string): string;
  /** hash: function ID → what kept its expressions from being judged last, as JSON */
  expressionProblems(env: string): string;
  /** hash: function ID → how many events its expressions did not judge since there are problems */
  expressionSkips(env: string): string;
  /** hash: function ID → function, as JSON */
  functions(env: string): string;
  /** hash: ID of a paused function → since when, Unix milliseconds */
  pausedFunctions(env: string): string;
  /** hash: app's name → app, as JSON */
  apps(env: string): string;
  /** string: grows with every change to the functions */
  functionsVersion(env: string): string;
  /** hash: environment's name → environment, as JSON; without production, which is always there */
  environments: string;
  /** string: limits of the whole account, as JSON */
  accountLimits: string;
  /** hash: event key's ID → event key, as JSON */
  eventKeys: string;
  /** hash: SHA-256 of an event key's secret → its ID */
  eventKeyDigests: string;
  /** hash: event key's ID → when it was last used, Unix milliseconds */
  eventKeyUses: string;
  /** hash: webhook ID → webhook, as JSON */
  webhooks: string;
  /** hash: key of a webhook's URL → webhook ID */
  webhookKeys: string;
  /** zset: IDs of a webhook's logged requests, by ID */
  webhookLog(webhookId: string): string;
  /** zset: those of them that were rejected */
  webhookRejections(webhookId: string): string;
  /** hash: ID of a logged request → its bytes; and "total" */
  webhookLogSizes(webhookId: string): string;
  /** hash: a logged request: summary and request as JSON, body as it came */
  webhookRequest(webhookId: string, requestId: string): string;
  /** zset: IDs of the events on the holding page, by time of receipt */
  heldEvents: string;
  /** string: an event on the holding page, as JSON */
  heldEvent(id: string): string;
  /** string: the environment that the held event is assigned to, from when it is being so */
  heldEventPlace(id: string): string;
  /** hash: SHA-256 of an API key's secret → API key, as JSON */
  apiKeys: string;
  /** hash: API key ID → Unix milliseconds of its last use */
  apiKeyUses: string;
  /** hash: user ID → user, as JSON */
  users: string;
  /** hash: email address → user ID */
  userEmails: string;
  /** string: a session, as JSON, by the SHA-256 of its token */
  session(digest: string): string;
  /** string: what a one-time link is for, as JSON, by the SHA-256 of its token */
  link(digest: string): string;
  /** first part of keys, as a limiter makes them: string: failed sign-ins, by the SHA-256 of what the limit is on */
  signInThrottle(limit: string): string;
  /** string: empty; there was a sign-in to the account from this address, by the SHA-256 of both */
  knownAddress(digest: string): string;
  /** string: nothing, sealed: what opens it opens what is sealed */
  sealCheck: string;
  /** hash: environment, or the set of branches → its signing keys, sealed */
  signingKeys: string;
  /** stream: who did what */
  audit: string;
  /** zset: IDs of refused attempts, by when they were last repeated (microseconds) */
  refusals: string;
  /** hash: such an ID → what was refused, how often and when, as JSON */
  refusalCounts: string;
  /** hash: what was counted in a block of steps that begins then (Unix milliseconds): step and counter → number */
  metrics(env: string, stepMs: number, blockStart: number): string;
  /** hash: what became of runs in the hour that begins then: counter and function ID → number */
  functionMetrics(env: string, hourStart: number): string;
  /** zset: IDs of the processes that are alive, by when they last said so */
  processes: string;
  /** string: a process that is alive, as JSON */
  process(id: string): string;
  /** string: token of who holds the lock */
  lock(name: string): string;
  /** channel: what has just happened in the environment; undefined: on the whole account */
  live(env: string | undefined): string;
  /** channel: something that processes keep in memory has changed */
  changes: string;
  /** string: another one after each such change; kept for an hour */
  changesVersion: string;
  /** string: empty; written so that what was written before it can be waited for */
  diskBarrier: string;
  /** first part of BullMQ's own keys */
  queues: string;
}

export function keyspace(prefix: string): Keyspace {
  return {
    eventBucket: (env, slice) => `${prefix}:event-bucket:${env}:${slice}`,
    keptEvent: (env, id) => `${prefix}:kept-event:${env}:${id}`,
    eventSources: (env) => `${prefix}:event-sources:${env}`,
    duplicates: (env, id) => `${prefix}:duplicates:${env}:${id}`,
    eventIndex: (env, name) => `${prefix}:events:${env}:${name}`,
    eventSlot: (env, minute) => `${prefix}:event-slot:${env}:${minute}`,
    eventMinutes: (env) => `${prefix}:event-minutes:${env}`,
    eventNames: (env) => `${prefix}:event-names:${env}`,
    eventOfId: (env, id) => `${prefix}:event-of-id:${env}:${id}`,
    dedup: (env, id) => `${prefix}:dedup:${env}:${id}`,
    run: (env, id) => `${prefix}:run:${env}:${id}`,
    memos: (env, runId) => `${prefix}:run:${env}:${runId}:memos`,
    stack: (env, runId) => `${prefix}:run:${env}:${runId}:stack`,
    pending: (env, runId) => `${prefix}:run:${env}:${runId}:pending`,
    history: (env, runId) => `${prefix}:run:${env}:${runId}:history`,
    activeRuns: `${prefix}:active-runs`,
    activeRunsOf: (env) => `${prefix}:active-runs-of:${env}`,
    runSlot: (env, ending, stretch) => `${prefix}:run-slot:${env}:${ending}:${stretch}`,
    runMinutes: (env, ending) => `${prefix}:run-minutes:${env}:${ending}`,
    waits: (env, eventName) => `${prefix}:waits:${env}:${eventName}`,
    waitsByValue: (env, digest, eventName) => `${prefix}:waits-by-value:${env}:${digest}:${eventName}`,
    waitPaths: (env, eventName) => `${prefix}:wait-paths:${env}:${eventName}`,
    waitsOf: (env, runId) => `${prefix}:run:${env}:${runId}:waits`,
    runIndex: (env, group, functionId) => `${prefix}:runs:${env}:${group}:${functionId}`,
    eventRuns: (env, slice) => `${prefix}:event-runs:${env}:${slice}`,
    lateEventRuns: (env, eventId) => `${prefix}:late-event-runs:${env}:${eventId}`,
    expressionProblems: (env) => `${prefix}:expression-problems:${env}`,
    expressionSkips: (env) => `${prefix}:expression-skips:${env}`,
    functions: (env) => `${prefix}:functions:${env}`,
    pausedFunctions: (env) => `${prefix}:paused-functions:${env}`,
    apps: (env) => `${prefix}:apps:${env}`,
    functionsVersion: (env) => `${prefix}:functions-version:${env}`,
    environments: `${prefix}:environments`,
    accountLimits: `${prefix}:account-limits`,
    eventKeys: `${prefix}:event-keys`,
    eventKeyDigests: `${prefix}:event-key-digests`,
    eventKeyUses: `${prefix}:event-key-uses`,
    webhooks: `${prefix}:webhooks`,
    webhookKeys: `${prefix}:webhook-keys`,
    webhookLog: (webhookId) => `${prefix}:webhook-log:${webhookId}`,
    webhookRejections: (webhookId) => `${prefix}:webhook-rejections:${webhookId}`,
    webhookLogSizes: (webhookId) => `${prefix}:webhook-log-sizes:${webhookId}`,
    webhookRequest: (webhookId, requestId) => `${prefix}:webhook-request:${webhookId}:${requestId}`,
    heldEvents: `${prefix}:held-events`,
    heldEvent: (id) => `${prefix}:held-event:${id}`,
    heldEventPlace: (id) => `${prefix}:held-event-place:${id}`,
    apiKeys: `${prefix}:api-keys`,
    apiKeyUses: `${prefix}:api-key-uses`,
    users: `${prefix}:users`,
    userEmails: `${prefix}:user-emails`,
    session: (digest) => `${prefix}:session:${digest}`,
    link: (digest) => `${prefix}:link:${digest}`,
    signInThrottle: (limit) => `${prefix}:sign-in-throttle:${limit}`,
    knownAddress: (digest) => `${prefix}:known-address:${digest}`,
    sealCheck: `${prefix}:seal-check`,
    signingKeys: `${prefix}:signing-keys`,
    audit: `${prefix}:audit`,
    refusals: `${prefix}:refusals`,
    refusalCounts: `${prefix}:refusal-counts`,
    metrics: (env, stepMs, blockStart) => `${prefix}:metrics:${env}:${stepMs}:${blockStart}`,
    functionMetrics: (env, hourStart) => `${prefix}:function-metrics:${env}:${hourStart}`,
    processes: `${prefix}:processes`,
    process: (id) => `${prefix}:process:${id}`,
    lock: (name) => `${prefix}:lock:${name}`,
    live: (env) => (env === undefined ? `${prefix}:live` : `${prefix}:live:${env}`),
    changes: `${prefix}:changes`,
    changesVersion: `${prefix}:changes-version`,
    diskBarrier: `${prefix}:disk-barrier`,
    queues: `${prefix}:queue`,
  };
}

/** The keys that belong to one environment: all that hold something of it, and are deleted with it (environment-data.ts). Each is made of the
 *  prefix, what it holds, the environment's name, and perhaps more. */
export const OF_ENVIRONMENT = [
  'eventBucket',
  'keptEvent',
  'eventSources',
  'duplicates',
  'eventIndex',
  'eventSlot',
  'eventMinutes',
  'eventNames',
  'eventOfId',
  'dedup',
  'run',
  'activeRunsOf',
  'runSlot',
  'runMinutes',
  'waits',
  'waitsByValue',
  'waitPaths',
  'runIndex',
  'eventRuns',
  'lateEventRuns',
  'functions',
  'pausedFunctions',
  'apps',
  'functionsVersion',
  'expressionProblems',
  'expressionSkips',
  'metrics',
  'functionMetrics',
] as const satisfies (keyof Keyspace)[];
