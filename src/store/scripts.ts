/** Lua scripts as commands of a connection. Each stands in its own file, headed by its keys, arguments and return codes. `using`: a
 *  file of functions that it calls. Keys that follow from others (keyspace.ts) are made in the scripts, which spares senders
 *  arguments. That, like BullMQ, asks for one Redis and no cluster. */
import { readFileSync } from 'node:fs';
import type { ChainableCommander, Redis } from 'ioredis';

const SCRIPTS = {
  createRuns: { file: 'create-runs.lua', numberOfKeys: 2 },
  createEnvironment: { file: 'create-environment.lua', numberOfKeys: 1 },
  loadCall: { file: 'load-call.lua', numberOfKeys: 4, using: 'kept-event.lua' },
  storeMemo: { file: 'store-memo.lua', numberOfKeys: 1 },
  planStep: { file: 'plan-step.lua', numberOfKeys: 3, using: 'kept-event.lua' },
  keepEvent: { file: 'keep-event.lua', numberOfKeys: 2, using: 'kept-event.lua' },
  storeApart: { file: 'store-apart.lua', numberOfKeys: 2 },
  indexEvents: { file: 'index-events.lua', numberOfKeys: 4 },
  factLines: { file: 'fact-lines.lua', numberOfKeys: 1 },
  numberSource: { file: 'number-source.lua', numberOfKeys: 1 },
  logRequests: { file: 'log-requests.lua', numberOfKeys: 3 },
  noteHistory: { file: 'note-history.lua', numberOfKeys: 1 },
  noteAnswered: { file: 'note-answered.lua', numberOfKeys: 1 },
  noteFailure: { file: 'note-failure.lua', numberOfKeys: 1 },
  endRun: { file: 'end-run.lua', numberOfKeys: 6, using: 'waits-of-run.lua' },
  addWaits: { file: 'add-waits.lua' },
  removeWait: { file: 'remove-wait.lua', numberOfKeys: 2, using: 'waits-of-run.lua' },
  newestAtOnce: { file: 'newest-at-once.lua' },
  createUser: { file: 'create-user.lua', numberOfKeys: 2 },
  changeUser: { file: 'change-user.lua', numberOfKeys: 2 },
  startSession: { file: 'start-session.lua', numberOfKeys: 1 },
  appendAudit: { file: 'append-audit.lua', numberOfKeys: 1 },
  noteRefusal: { file: 'note-refusal.lua', numberOfKeys: 2 },
  holdLock: { file: 'hold-lock.lua', numberOfKeys: 1 },
  swapField: { file: 'swap-field.lua', numberOfKeys: 1 },
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
  return readFileSync(new URL(`lua/${file}`, import.meta.url), 'utf8');
}

/** A hash as a script returns it: field, value, field, value, … */
export function fromFlat(flat: string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
  return fields;
}
