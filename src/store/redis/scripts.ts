/** Lua scripts as commands of a connection. Each stands in its own file, headed by its keys, arguments and return codes. `using`: a
 *  file of functions that it calls. Keys that follow from others (keyspace.ts) are made in the scripts, which spares senders
 *  arguments. That, like BullMQ, asks for one Redis and no cluster. */
import { readFileSync } from 'node:fs';
import type { ChainableCommander, Redis } from 'ioredis';

const SCRIPTS = {
  createRuns: { file: 'runs/lua/create-runs.lua', numberOfKeys: 2 },
  createEnvironment: { file: 'environments/lua/create-environment.lua', numberOfKeys: 1 },
  loadCall: { file: 'runs/lua/load-call.lua', numberOfKeys: 4, using: 'events/lua/kept-event.lua' },
  storeMemo: { file: 'runs/lua/store-memo.lua', numberOfKeys: 1 },
  planStep: { file: 'runs/lua/plan-step.lua', numberOfKeys: 3, using: 'events/lua/kept-event.lua' },
  keepEvent: { file: 'events/lua/keep-event.lua', numberOfKeys: 2, using: 'events/lua/kept-event.lua' },
  storeApart: { file: 'events/lua/store-apart.lua', numberOfKeys: 2 },
  indexEvents: { file: 'events/lua/index-events.lua', numberOfKeys: 4 },
  factLines: { file: 'events/lua/fact-lines.lua', numberOfKeys: 1 },
  numberSource: { file: 'events/lua/number-source.lua', numberOfKeys: 1 },
  logRequests: { file: 'webhooks/lua/log-requests.lua', numberOfKeys: 3 },
  noteHistory: { file: 'runs/lua/note-history.lua', numberOfKeys: 1 },
  noteAnswered: { file: 'events/lua/note-answered.lua', numberOfKeys: 1 },
  noteFailure: { file: 'runs/lua/note-failure.lua', numberOfKeys: 1 },
  endRun: { file: 'runs/lua/end-run.lua', numberOfKeys: 6, using: 'runs/lua/waits-of-run.lua' },
  addWaits: { file: 'runs/lua/add-waits.lua' },
  removeWait: { file: 'runs/lua/remove-wait.lua', numberOfKeys: 1, using: 'runs/lua/waits-of-run.lua' },
  newestAtOnce: { file: 'events/lua/newest-at-once.lua' },
  createUser: { file: 'auth/lua/create-user.lua', numberOfKeys: 2 },
  changeUser: { file: 'auth/lua/change-user.lua', numberOfKeys: 2 },
  startSession: { file: 'auth/lua/start-session.lua', numberOfKeys: 1 },
  appendAudit: { file: 'auth/lua/append-audit.lua', numberOfKeys: 1 },
  noteRefusal: { file: 'auth/lua/note-refusal.lua', numberOfKeys: 2 },
  holdLock: { file: 'redis/lua/hold-lock.lua', numberOfKeys: 1 },
  swapField: { file: 'redis/lua/swap-field.lua', numberOfKeys: 1 },
} as const satisfies Record<string, Script>;

interface Script {
  file: string;
  /** Absent: it is the first argument of each call. */
  numberOfKeys?: number;
  using?: string;
}

type Argument = string | number | Buffer;
type Commands<Reply> = Record<keyof typeof SCRIPTS, (...args: Argument[]) => Reply>;

export interface ScriptedPipeline extends ChainableCommander, Commands<ChainableCommander> {}
export type ScriptedRedis = { pipeline(): ScriptedPipeline } & Redis & Commands<Promise<unknown>>;

export function withScripts(redis: Redis): ScriptedRedis {
  for (const [name, { file, numberOfKeys, using }] of Object.entries<Script>(SCRIPTS)) {
    redis.defineCommand(name, {
      lua: (using ? luaOf(using) : '') + luaOf(file),
      ...(numberOfKeys && { numberOfKeys }),
    });
  }
  return redis as unknown as ScriptedRedis;
}

function luaOf(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
}

/** A hash as a script returns it: field, value, field, value, … */
export function fromFlat(flat: string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
  return fields;
}
