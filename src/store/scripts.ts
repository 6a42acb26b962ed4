/** Lua scripts as commands of a connection. Each stands in its own file, headed by its keys, arguments and return codes. */
import { readFileSync } from 'node:fs';
import type { ChainableCommander, Redis } from 'ioredis';

const SCRIPTS = {
  createRun: { file: 'create-run.lua', numberOfKeys: 2 },
  startAttempt: { file: 'start-attempt.lua', numberOfKeys: 2 },
  endRun: { file: 'end-run.lua', numberOfKeys: 1 },
} as const;

type Argument = string | number;
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
