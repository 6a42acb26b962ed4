/** Every key in Redis, by the thing it holds. */
export interface Keyspace {
  /** string: an event's record, as JSON */
  event(env: string, id: string): string;
  /** string: how often the event was sent again */
  duplicates(env: string, id: string): string;
  /** zset: IDs of events that are wholly ingested, by time of receipt; of one name, or of all */
  eventIndex(env: string, name?: string): string;
  /** string: the ID that the first event with this deduplication ID was given */
  dedup(env: string, id: string): string;
  /** hash: a run */
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
  /** hash: `<run ID>/<step>` → what is waited for, as JSON; of one event name */
  waits(env: string, eventName: string): string;
  /** zset: IDs of the runs an event caused, by time of creation */
  eventRuns(env: string, eventId: string): string;
  /** hash: function ID → function, as JSON */
  functions(env: string): string;
  /** string: grows with every change to the functions */
  functionsVersion(env: string): string;
  /** hash: environment's name → environment, as JSON; without production, which is always there */
  environments: string;
  /** hash: webhook ID → webhook, as JSON */
  webhooks: string;
  /** hash: key of a webhook's URL → webhook ID */
  webhookKeys: string;
  /** channel: something that processes keep in memory has changed */
  changes: string;
  /** first part of BullMQ's own keys */
  queues: string;
}

export function keyspace(prefix: string): Keyspace {
  return {
    event: (env, id) => `${prefix}:event:${env}:${id}`,
    duplicates: (env, id) => `${prefix}:duplicates:${env}:${id}`,
    eventIndex: (env, name) => (name === undefined ? `${prefix}:events:${env}` : `${prefix}:events:${env}:${name}`),
    dedup: (env, id) => `${prefix}:dedup:${env}:${id}`,
    run: (env, id) => `${prefix}:run:${env}:${id}`,
    memos: (env, runId) => `${prefix}:memos:${env}:${runId}`,
    stack: (env, runId) => `${prefix}:stack:${env}:${runId}`,
    pending: (env, runId) => `${prefix}:pending:${env}:${runId}`,
    history: (env, runId) => `${prefix}:history:${env}:${runId}`,
    activeRuns: `${prefix}:active-runs`,
    waits: (env, eventName) => `${prefix}:waits:${env}:${eventName}`,
    eventRuns: (env, eventId) => `${prefix}:event-runs:${env}:${eventId}`,
    functions: (env) => `${prefix}:functions:${env}`,
    functionsVersion: (env) => `${prefix}:functions-version:${env}`,
    environments: `${prefix}:environments`,
    webhooks: `${prefix}:webhooks`,
    webhookKeys: `${prefix}:webhook-keys`,
    changes: `${prefix}:changes`,
    queues: `${prefix}:queue`,
  };
}
