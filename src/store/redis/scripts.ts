/** Lua scripts as commands of a connection. Each is a file that is headed by its keys, arguments and return codes. Two things are added before
 *  it is sent to Redis: the files that it names with `-- @include`, and the CONSTANTS that it mentions, as Lua locals.
 *
 *  Arguments of scripts that run for every event, call or step are positional: Redis takes 4 µs to decode a packed table of eight, a tenth of
 *  what load-call.lua takes in all. Scripts derive keys from others, which saves arguments. Like BullMQ, they need one Redis and do not run on a cluster. */
import { readFileSync } from 'node:fs';
import type { ChainableCommander, Redis } from 'ioredis';
import type { RunStatus } from '../../model/runs/run.ts';
import { MINUTE_MS, SLICE_LENGTH } from '../events/keys.ts';
import { RUN_SUFFIXES, SEGMENT_LENGTHS_MS } from '../runs/keys.ts';
import { PENDING_RACE, PLANNING_FIELD, RUN_FIELDS } from '../runs/run-fields.ts';

/** Absent `numberOfKeys`: it is the first argument of each call. */
const SCRIPTS = {
  createRuns: { file: 'runs/lua/create-runs.lua', numberOfKeys: 2 },
  loadCall: { file: 'runs/lua/load-call.lua', numberOfKeys: 4 },
  storeMemo: { file: 'runs/lua/store-memo.lua', numberOfKeys: 1 },
  storeMemos: { file: 'runs/lua/store-memos.lua', numberOfKeys: 3 },
  handOver: { file: 'runs/lua/hand-over.lua', numberOfKeys: 1 },
  beginSteps: { file: 'runs/lua/begin-steps.lua', numberOfKeys: 3 },
  appendHistory: { file: 'runs/lua/append-history.lua', numberOfKeys: 1 },
  recordAnswered: { file: 'runs/lua/record-answered.lua', numberOfKeys: 1 },
  recordError: { file: 'runs/lua/record-error.lua', numberOfKeys: 1 },
  setMetadata: { file: 'runs/lua/set-metadata.lua', numberOfKeys: 1 },
  endRun: { file: 'runs/lua/end-run.lua', numberOfKeys: 8 },
  addWaits: { file: 'runs/lua/add-waits.lua' },
  removeWait: { file: 'runs/lua/remove-wait.lua', numberOfKeys: 1 },
  storeRequest: { file: 'runs/lua/store-request.lua', numberOfKeys: 1 },
  removeRequest: { file: 'runs/lua/remove-request.lua', numberOfKeys: 1 },
  addDefer: { file: 'runs/lua/add-defer.lua', numberOfKeys: 1 },
  addSignal: { file: 'runs/lua/add-signal.lua', numberOfKeys: 2 },
  storeEvents: { file: 'events/lua/store-events.lua', numberOfKeys: 1 },
  extendRetention: { file: 'events/lua/extend-retention.lua', numberOfKeys: 2 },
  storeOverflowEvent: { file: 'events/lua/store-overflow-event.lua', numberOfKeys: 2 },
  indexEvents: { file: 'events/lua/index-events.lua', numberOfKeys: 4 },
  readMetadata: { file: 'events/lua/read-metadata.lua', numberOfKeys: 1 },
  assignSourceNumber: { file: 'events/lua/assign-source-number.lua', numberOfKeys: 1 },
  createEnvironment: { file: 'environments/lua/create-environment.lua', numberOfKeys: 1 },
  logRequests: { file: 'webhooks/lua/log-requests.lua', numberOfKeys: 3 },
  createUser: { file: 'auth/lua/create-user.lua', numberOfKeys: 2 },
  changeUser: { file: 'auth/lua/change-user.lua', numberOfKeys: 2 },
  startSession: { file: 'auth/lua/start-session.lua', numberOfKeys: 1 },
  appendAuditEntry: { file: 'auth/lua/append-audit-entry.lua', numberOfKeys: 1 },
  recordRejection: { file: 'auth/lua/record-rejection.lua', numberOfKeys: 2 },
  newestAtOnce: { file: 'redis/lua/newest-at-once.lua' },
  renewConnection: { file: 'connect/lua/renew-connection.lua', numberOfKeys: 2 },
  closeConnection: { file: 'connect/lua/close-connection.lua', numberOfKeys: 2 },
  reserveCall: { file: 'connect/lua/reserve-call.lua', numberOfKeys: 2 },
  acknowledgeCall: { file: 'connect/lua/acknowledge-call.lua', numberOfKeys: 1 },
  extendCall: { file: 'connect/lua/extend-call.lua', numberOfKeys: 1 },
  replyToCall: { file: 'connect/lua/reply-to-call.lua', numberOfKeys: 1 },
  finishCall: { file: 'connect/lua/finish-call.lua', numberOfKeys: 1 },
  loseCall: { file: 'connect/lua/lose-call.lua', numberOfKeys: 1 },
  renewLock: { file: 'redis/lua/renew-lock.lua', numberOfKeys: 1 },
  replaceField: { file: 'redis/lua/replace-field.lua', numberOfKeys: 1 },
} as const satisfies Record<string, { file: string; numberOfKeys?: number }>;

/** What scripts share with the code, by the names that they use. */
const CONSTANTS: Record<string, string | number | readonly number[]> = {
  FIELD_FUNCTION_ID: RUN_FIELDS.functionId,
  FIELD_EVENT_ID: RUN_FIELDS.eventId,
  FIELD_STATUS: RUN_FIELDS.status,
  FIELD_ATTEMPT: RUN_FIELDS.attempt,
  FIELD_QUEUED_AT: RUN_FIELDS.queuedAt,
  FIELD_STARTED_AT: RUN_FIELDS.startedAt,
  FIELD_ERROR: RUN_FIELDS.error,
  FIELD_ANSWERED_AT: RUN_FIELDS.answeredAt,
  FIELD_RACED_AT: RUN_FIELDS.racedAt,
  FIELD_PLANNING: PLANNING_FIELD,
  PENDING_RACE,
  FIELD_DEFERS: RUN_FIELDS.defers,
  FIELD_MEMO_BYTES: RUN_FIELDS.memoBytes,
  FIELD_CHECKPOINT: RUN_FIELDS.checkpoint,
  STATUS_QUEUED: 'Queued' satisfies RunStatus,
  STATUS_RUNNING: 'Running' satisfies RunStatus,
  SUFFIX_MEMOS: RUN_SUFFIXES.memos,
  SUFFIX_STACK: RUN_SUFFIXES.stack,
  SUFFIX_PENDING: RUN_SUFFIXES.pending,
  SUFFIX_DEFERS: RUN_SUFFIXES.defers,
  SUFFIX_REQUESTS: RUN_SUFFIXES.requests,
  SUFFIX_HISTORY: RUN_SUFFIXES.history,
  SUFFIX_WAITS: RUN_SUFFIXES.waits,
  SUFFIX_METADATA: RUN_SUFFIXES.metadata,
  SEGMENT_LENGTHS_MS,
  MINUTE_MS,
  SLICE_LENGTH,
};

const INCLUDE = /^-- @include (.+)$/gm;

type Argument = string | number | Buffer;
type Commands<Reply> = Record<keyof typeof SCRIPTS, (...args: Argument[]) => Reply>;

export interface ScriptedPipeline extends ChainableCommander, Commands<ChainableCommander> {}
export type ScriptedRedis = { pipeline(): ScriptedPipeline } & Redis & Commands<Promise<unknown>>;

/** Adds the commands to the connection; once is enough for all that use it. */
export function withScripts(redis: Redis): ScriptedRedis {
  for (const [name, { file, ...options }] of Object.entries(SCRIPTS)) {
    redis.defineCommand(name, { lua: readScript(file), ...options });
  }
  return redis as unknown as ScriptedRedis;
}

function readScript(file: string): string {
  const script = readLua(file).replace(INCLUDE, (_, included: string) => readLua(included));
  const locals = Object.entries(CONSTANTS).flatMap(([name, value]) =>
    new RegExp(`\\b${name}\\b`).test(script) ? [`local ${name} = ${toLua(value)}\n`] : [],
  );
  // Without any, the script may begin with flags, which have to stay its first line.
  return locals.join('') + script;
}

function readLua(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
}

function toLua(value: string | number | readonly number[]): string {
  if (typeof value === 'string') return `'${value}'`;
  return typeof value === 'number' ? String(value) : `{ ${value.join(', ')} }`;
}

/** A hash as a script returns it: field, value, field, value, … */
export function fromFlat(flat: string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i] as string;
    const value = flat[i + 1] as string;
    // An app may have a step of this ID; an assignment would be lost.
    if (name === '__proto__') Object.defineProperty(fields, name, { value, enumerable: true });
    else fields[name] = value;
  }
  return fields;
}
