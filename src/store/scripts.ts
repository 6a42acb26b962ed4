/** Lua scripts as commands of a connection. Each stands in its own file, headed by its keys, arguments and return codes. */
import { readFileSync } from 'node:fs';
import type { ChainableCommander, Redis } from 'ioredis';

const SCRIPTS = {
  createRun: { file: 'create-run.lua', numberOfKeys: 4 },
  loadCall: { file: 'load-call.lua', numberOfKeys: 6 },
  storeMemo: { file: 'store-memo.lua', numberOfKeys: 4 },
  planStep: { file: 'plan-step.lua', numberOfKeys: 4 },
  logRequests: { file: 'log-requests.lua', numberOfKeys: 3 },
  noteHistory: { file: 'note-history.lua', numberOfKeys: 2 },
  noteFailure: { file: 'note-failure.lua', numberOfKeys: 1 },
  endRun: { file: 'end-run.lua', numberOfKeys: 8 },
  createUser: { file: 'create-user.lua', numberOfKeys: 2 },
  changeUser: { file: 'change-user.lua', numberOfKeys: 2 },
  takeAttempt: { file: 'take-attempt.lua', numberOfKeys: 2 },
  swapField: { file: 'swap-field.lua', numberOfKeys: 1 },
} as const;

type Argument = string | number | Buffer;
type Commands<Reply> = Record<keyof typeof SCRIPTS, (...args: Argument[]) => Reply>;

export interface ScriptedPipeline extends ChainableCommander, Commands<ChainableCommander> {}
export type ScriptedRedis = { pipeline(): ScriptedPipeline } & Redis & Commands<Promise<unknown>>;

export function withScripts(redis: Redis): ScriptedRedis {
  for (const [name, { file, numberOfKeys }] of Object.entries(SCRIPTS)) {
    const lua = readFileSync(new URL(`lua/${file}`, import.meta.url), 'utf8');
    redis.defineCommand(name, { lua, numberOfKeys });
  }
  return redis as unknown as ScriptedRedis;
}

/** A hash as a script returns it: field, value, field, value, … */
export function fromFlat(flat: string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
  return fields;
}
