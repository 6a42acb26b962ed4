/** Lua scripts as commands of a connection. Each file is headed by its keys, arguments and return values. Before a script is sent to
 *  Redis, two things are added: the files that it names with `-- @include`, and the CONSTANTS that it mentions, as Lua locals. Arguments
 *  of scripts that run for every event, call or step are positional: Redis takes 4 µs to decode a packed table of eight, a tenth of the
 *  total time of load-call.lua. Scripts derive keys from others, which saves arguments; in a cluster all keys of a script have one hash
 *  tag. While a hash slot migrates to another node, a script would fail halfway, at the first key that has moved. In a cluster each
 *  script therefore has an additional key that never exists: Redis rejects the whole script (TRYAGAIN) until the migration is over. */
import { type ChainableCommander, Pipeline } from 'ioredis';
import { readScript, toLua } from './script-source.ts';
import type { Redis } from './servers.ts';

/** Without `numberOfKeys`, the first argument of each call is that number. */
const SCRIPTS = {
  createRuns: { file: 'runs/lua/create-runs.lua', numberOfKeys: 5 },
  createRunsWithEvents: { file: 'runs/lua/create-runs-with-events.lua', numberOfKeys: 7 },
  loadCall: { file: 'runs/lua/load-call.lua', numberOfKeys: 5 },
  copySteps: { file: 'runs/lua/copy-steps.lua', numberOfKeys: 2 },
  storeMemo: { file: 'runs/lua/store-memo.lua', numberOfKeys: 2 },
  storeMemos: { file: 'runs/lua/store-memos.lua' },
  scheduleReconciliation: { file: 'runs/lua/schedule-reconciliation.lua', numberOfKeys: 2 },
  readSleepingRun: { file: 'runs/lua/read-sleeping-run.lua', numberOfKeys: 2 },
  offloadRun: { file: 'runs/lua/offload-run.lua', numberOfKeys: 6 },
  returnRun: { file: 'runs/lua/return-run.lua', numberOfKeys: 6 },
  scanOffloadedRuns: { file: 'runs/lua/scan-offloaded-runs.lua', numberOfKeys: 1 },
  readContents: { file: 'runs/lua/read-contents.lua', numberOfKeys: 1 },
  readSteps: { file: 'runs/lua/read-steps.lua', numberOfKeys: 1 },
  readRun: { file: 'runs/lua/read-run.lua', numberOfKeys: 1 },
  readPart: { file: 'runs/lua/read-part.lua', numberOfKeys: 1 },
  handOver: { file: 'runs/lua/hand-over.lua', numberOfKeys: 1 },
  beginSteps: { file: 'runs/lua/begin-steps.lua', numberOfKeys: 3 },
  beginSleep: { file: 'runs/lua/begin-sleep.lua', numberOfKeys: 5 },
  appendHistory: { file: 'runs/lua/append-history.lua', numberOfKeys: 1 },
  recordAnswered: { file: 'runs/lua/record-answered.lua', numberOfKeys: 1 },
  recordError: { file: 'runs/lua/record-error.lua', numberOfKeys: 1 },
  setMetadata: { file: 'runs/lua/set-metadata.lua', numberOfKeys: 1 },
  appendRunLog: { file: 'runs/lua/append-run-log.lua', numberOfKeys: 1 },
  endRun: { file: 'runs/lua/end-run.lua', numberOfKeys: 10 },
  moveRun: { file: 'runs/lua/move-run.lua', numberOfKeys: 2 },
  pauseRun: { file: 'runs/lua/pause-run.lua', numberOfKeys: 2 },
  resumeRun: { file: 'runs/lua/resume-run.lua', numberOfKeys: 3 },
  recordFailure: { file: 'errors/lua/record-failure.lua', numberOfKeys: 7 },
  changeErrorGroup: { file: 'errors/lua/change-error-group.lua', numberOfKeys: 4 },
  setErrorGroupChannels: { file: 'errors/lua/set-error-group-channels.lua', numberOfKeys: 1 },
  addWaits: { file: 'runs/lua/add-waits.lua' },
  removeWait: { file: 'runs/lua/remove-wait.lua', numberOfKeys: 1 },
  registerWait: { file: 'runs/lua/register-wait.lua', numberOfKeys: 1 },
  storeWait: { file: 'runs/lua/store-wait.lua', numberOfKeys: 3 },
  removeStoredWait: { file: 'runs/lua/remove-stored-wait.lua', numberOfKeys: 3 },
  takeSignal: { file: 'runs/lua/take-signal.lua', numberOfKeys: 1 },
  storeRequest: { file: 'runs/lua/store-request.lua', numberOfKeys: 1 },
  removeRequest: { file: 'runs/lua/remove-request.lua', numberOfKeys: 1 },
  addDefer: { file: 'runs/lua/add-defer.lua', numberOfKeys: 1 },
  storeEvents: { file: 'events/lua/store-events.lua', numberOfKeys: 1 },
  extendRetention: { file: 'events/lua/extend-retention.lua', numberOfKeys: 2 },
  storeOverflowEvent: { file: 'events/lua/store-overflow-event.lua', numberOfKeys: 2 },
  keepEventInUse: { file: 'events/lua/keep-event-in-use.lua', numberOfKeys: 3 },
  indexEvents: { file: 'events/lua/index-events.lua', numberOfKeys: 6 },
  readMetadata: { file: 'events/lua/read-metadata.lua', numberOfKeys: 1 },
  assignSourceNumber: { file: 'events/lua/assign-source-number.lua', numberOfKeys: 1 },
  useEvent: { file: 'events/lua/use-event.lua', numberOfKeys: 2 },
  releaseEvents: { file: 'events/lua/release-events.lua', numberOfKeys: 5 },
  measureEvents: { file: 'events/lua/measure-events.lua', numberOfKeys: 2 },
  findIngestJobs: { file: 'events/lua/find-ingest-jobs.lua', numberOfKeys: 4 },
  listIngestJobs: { file: 'events/lua/list-ingest-jobs.lua', numberOfKeys: 6 },
  readEventParts: { file: 'events/lua/read-event-parts.lua', numberOfKeys: 3 },
  readEndedRuns: { file: 'runs/lua/read-ended-runs.lua', numberOfKeys: 1 },
  freeRuns: { file: 'runs/lua/free-runs.lua', numberOfKeys: 2 },
  endUseOfEvent: { file: 'events/lua/end-use-of-event.lua', numberOfKeys: 4 },
  freeEvents: { file: 'events/lua/free-events.lua', numberOfKeys: 3 },
  subtract: { file: 'redis/lua/subtract.lua' },
  addJobs: { file: 'redis/lua/add-jobs.lua', numberOfKeys: 1 },
  takeJob: { file: 'redis/lua/take-job.lua', numberOfKeys: 1 },
  finishJob: { file: 'redis/lua/finish-job.lua', numberOfKeys: 1 },
  deleteIfEqual: { file: 'redis/lua/delete-if-equal.lua' },
  freeEndedMinute: { file: 'runs/lua/free-ended-minute.lua' },
  readDecisions: { file: 'flow-control/lua/read-decisions.lua', numberOfKeys: 2 },
  addDecisions: { file: 'flow-control/lua/add-decisions.lua', numberOfKeys: 2 },
  changeFunctions: { file: 'apps/lua/change-functions.lua', numberOfKeys: 5 },
  recordDeploy: { file: 'apps/lua/record-deploy.lua', numberOfKeys: 2 },
  createEnvironment: { file: 'environments/lua/create-environment.lua', numberOfKeys: 1 },
  saveWebhook: { file: 'webhooks/lua/save-webhook.lua', numberOfKeys: 3 },
  logRequests: { file: 'webhooks/lua/log-requests.lua' },
  recordWebhookFailures: { file: 'webhooks/lua/record-webhook-failures.lua', numberOfKeys: 6 },
  changeWebhookIssue: { file: 'webhooks/lua/change-webhook-issue.lua', numberOfKeys: 6 },
  recordWebhookTraffic: { file: 'webhooks/lua/record-webhook-traffic.lua', numberOfKeys: 1 },
  beginWebhookReconciliation: { file: 'webhooks/lua/begin-webhook-reconciliation.lua', numberOfKeys: 6 },
  changeWebhookReconciliation: { file: 'webhooks/lua/change-webhook-reconciliation.lua', numberOfKeys: 1 },
  recordSentRequests: { file: 'webhooks/lua/record-sent-requests.lua', numberOfKeys: 5 },
  describeMissingRequest: { file: 'webhooks/lua/describe-missing-request.lua', numberOfKeys: 2 },
  settleMissingRequest: { file: 'webhooks/lua/settle-missing-request.lua', numberOfKeys: 4 },
  trimSentRequests: { file: 'webhooks/lua/trim-sent-requests.lua', numberOfKeys: 5 },
  dropArchivedRequests: { file: 'webhooks/lua/drop-archived-requests.lua', numberOfKeys: 7 },
  numberSteps: { file: 'telemetry/lua/number-steps.lua', numberOfKeys: 1 },
  createUser: { file: 'auth/lua/create-user.lua', numberOfKeys: 2 },
  changeUser: { file: 'auth/lua/change-user.lua', numberOfKeys: 2 },
  setForSignIn: { file: 'auth/lua/set-for-sign-in.lua', numberOfKeys: 1 },
  startSession: { file: 'auth/lua/start-session.lua' },
  appendAuditEntry: { file: 'auth/lua/append-audit-entry.lua', numberOfKeys: 1 },
  recordRejection: { file: 'auth/lua/record-rejection.lua', numberOfKeys: 2 },
  admitToRateLimit: { file: 'flow-control/lua/admit-to-rate-limit.lua', numberOfKeys: 1 },
  claimSingleton: { file: 'flow-control/lua/claim-singleton.lua', numberOfKeys: 1 },
  settleSingleton: { file: 'flow-control/lua/settle-singleton.lua', numberOfKeys: 1 },
  newestAtOnce: { file: 'redis/lua/newest-at-once.lua' },
  reserveConnection: { file: 'connect/lua/reserve-connection.lua', numberOfKeys: 1 },
  renewConnection: { file: 'connect/lua/renew-connection.lua', numberOfKeys: 2 },
  endConnection: { file: 'connect/lua/end-connection.lua', numberOfKeys: 1 },
  closeConnection: { file: 'connect/lua/close-connection.lua', numberOfKeys: 2 },
  reserveCall: { file: 'connect/lua/reserve-call.lua', numberOfKeys: 2 },
  acknowledgeCall: { file: 'connect/lua/acknowledge-call.lua', numberOfKeys: 1 },
  extendCall: { file: 'connect/lua/extend-call.lua', numberOfKeys: 1 },
  replyToCall: { file: 'connect/lua/reply-to-call.lua', numberOfKeys: 1 },
  finishCall: { file: 'connect/lua/finish-call.lua', numberOfKeys: 1 },
  loseCall: { file: 'connect/lua/lose-call.lua', numberOfKeys: 1 },
  admit: { file: 'flow-control/lua/admit.lua', numberOfKeys: 1 },
  releaseAdmission: { file: 'flow-control/lua/release-admission.lua', numberOfKeys: 1 },
  advanceLimit: { file: 'flow-control/lua/advance-limit.lua', numberOfKeys: 1 },
  changeBacklog: { file: 'flow-control/lua/change-backlog.lua', numberOfKeys: 1 },
  withdrawCalls: { file: 'flow-control/lua/withdraw-calls.lua', numberOfKeys: 1 },
  removeCheck: { file: 'flow-control/lua/remove-check.lua', numberOfKeys: 1 },
  claimChecks: { file: 'flow-control/lua/claim-checks.lua', numberOfKeys: 2 },
  scheduleChecks: { file: 'flow-control/lua/schedule-checks.lua', numberOfKeys: 1 },
  renewLock: { file: 'redis/lua/renew-lock.lua', numberOfKeys: 1 },
  addToEventGroups: { file: 'flow-control/lua/add-to-event-groups.lua', numberOfKeys: 7 },
  takeEventGroups: { file: 'flow-control/lua/take-event-groups.lua', numberOfKeys: 7 },
  completeEventGroups: { file: 'flow-control/lua/complete-event-groups.lua', numberOfKeys: 7 },
  changeLane: { file: 'flow-control/lua/change-lane.lua', numberOfKeys: 7 },
  recordTimerCheck: { file: 'flow-control/lua/record-timer-check.lua', numberOfKeys: 1 },
  addEventRun: { file: 'runs/lua/add-event-run.lua', numberOfKeys: 2 },
  addBulkOperation: { file: 'bulk/lua/add-bulk-operation.lua', numberOfKeys: 4 },
  changeBulkOperation: { file: 'bulk/lua/change-bulk-operation.lua' },
  planBulkPortion: { file: 'bulk/lua/plan-bulk-portion.lua', numberOfKeys: 1 },
  saveBulkPortion: { file: 'bulk/lua/save-bulk-portion.lua' },
  scheduleBulkOperation: { file: 'bulk/lua/schedule-bulk-operation.lua', numberOfKeys: 2 },
  registerRuns: { file: 'bulk/lua/register-runs.lua', numberOfKeys: 3 },
  endStartedRun: { file: 'bulk/lua/end-started-run.lua', numberOfKeys: 2 },
  replaceField: { file: 'redis/lua/replace-field.lua', numberOfKeys: 1 },
} as const satisfies Record<string, { file: string; numberOfKeys?: number }>;

type Argument = string | number | Buffer;
type Commands<Reply> = Record<keyof typeof SCRIPTS, (...args: Argument[]) => Reply>;

export interface ScriptedPipeline extends ChainableCommander, Commands<ChainableCommander> {}
export type ScriptedRedis = { pipeline(): ScriptedPipeline } & Redis & Commands<Promise<unknown>>;

/** Defines the commands on the connection, once for all its users.
 *  @param devClockKey of dev mode, where the clock can be moved: the time of flow control is then that of Redis and the offset in this key */
export function withScripts(redis: Redis, devClockKey?: string): ScriptedRedis {
  shareWithPipelines(redis);
  const define = redis.isCluster ? defineGuarded : defineCommand;
  for (const [name, { file, ...options }] of Object.entries(SCRIPTS)) {
    const script = readScript(file);
    const isOnDevClock = devClockKey !== undefined && file.startsWith('flow-control/');
    const lua = isOnDevClock ? onDevClock(script, devClockKey) : script;
    define(redis, name, lua, (options as { numberOfKeys?: number }).numberOfKeys);
  }
  return redis as unknown as ScriptedRedis;
}

type ScriptMethod = (this: { redis: Record<string, unknown> }, ...args: Argument[]) => unknown;

/** ioredis copies all scripts of a connection, including BullMQ's, into each pipeline, which takes 0.05 ms. A pipeline
 *  now asks its connection for the script that it sends. */
function shareWithPipelines(redis: Redis): void {
  const { scriptsSet } = redis as unknown as { scriptsSet: Record<string, unknown> };
  const define = redis.defineCommand.bind(redis);
  redis.defineCommand = (name, definition) => {
    define(name, definition);
    delete scriptsSet[name];
    for (const method of [name, `${name}Buffer`]) askConnectionFor(method);
  };
}

/** Assignable: on other connections ioredis copies a command of the same name. */
function askConnectionFor(method: string): void {
  const methods = Pipeline.prototype as unknown as Record<string, ScriptMethod>;
  methods[method] ??= function (...args) {
    return (this.redis[method] as ScriptMethod).apply(this, args);
  };
}

function defineCommand(redis: Redis, name: string, lua: string, numberOfKeys?: number): void {
  redis.defineCommand(name, { lua, ...(numberOfKeys !== undefined && { numberOfKeys }) });
}

/** Defines the command, and its form that replies with buffers, with the additional last key. */
function defineGuarded(redis: Redis, name: string, lua: string, numberOfKeys?: number): void {
  redis.defineCommand(name, { lua });
  const commands = redis as unknown as Record<string, (this: unknown, ...args: Argument[]) => unknown>;
  for (const method of [name, `${name}Buffer`]) {
    const send = commands[method] as (this: unknown, ...args: Argument[]) => unknown;
    // Pipelines call the function of the connection as their own method.
    commands[method] = function (this: unknown, ...given: Argument[]) {
      const [count, args] =
        numberOfKeys === undefined ? [Number(given[0]), given.slice(1)] : ([numberOfKeys, given] as const);
      return send.call(this, count + 1, ...args.slice(0, count), absentKeyBeside(args[0]), ...args.slice(count));
    };
  }
}

/** The never-existing key in the same hash slot. */
function absentKeyBeside(key: Argument | undefined): string {
  const text = String(key);
  return `${text.slice(0, text.indexOf('}') + 1)}:absent`;
}

/** Reads the clock's offset with each time. The undeclared key and the extra command do not matter in dev mode. */
function onDevClock(script: string, key: string): string {
  const now = `local function dev_time()
  local time, offset = redis.call('TIME'), tonumber(redis.call('GET', ${toLua(key)}) or 0)
  local micros = time[1] * 1000000 + time[2] + offset * 1000
  return { string.format('%.0f', math.floor(micros / 1000000)), string.format('%.0f', micros % 1000000) }
end
`;
  return now + script.replaceAll("redis.call('TIME')", 'dev_time()');
}

/** Converts a flat reply (field, value, field, value, …) to an object. */
export function fromFlat(flat: string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i] as string;
    const value = flat[i + 1] as string;
    // An app may have a step with this ID, which an assignment would lose.
    if (name === '__proto__') Object.defineProperty(fields, name, { value, enumerable: true });
    else fields[name] = value;
  }
  return fields;
}
