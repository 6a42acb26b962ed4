/** Signals that steps wait for. A signal is a wait that is found by its name alone, and has one waiting step at most. Like other waits it is removed
 *  by whatever ends its step or its run (waits.ts). */
import { runOfWait, waitKey } from '../../model/runs/wait.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { ttlOf } from './waits.ts';

/** A step of a run. */
export interface StepRef {
  runId: string;
  stepId: string;
}

export interface NewSignal extends StepRef {
  env: string;
  signal: string;
  /** When the wait times out, Unix milliseconds; undefined: never. */
  until?: number | undefined;
  /** Takes the signal from another step that waits for it. */
  replaces: boolean;
}

/** `replaced`: the step that waited before. `taken`: another step waits for the signal. `ended`: the run has ended. */
export type SignalOutcome = { outcome: 'stored'; replaced: StepRef | undefined } | { outcome: 'taken' | 'ended' };

export class Signals {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Idempotent. */
  async add({ env, signal, until, replaces, ...step }: NewSignal, nowMs: number): Promise<SignalOutcome> {
    const [outcome, replaced] = (await this.#redis.addSignal(
      this.#keys.run(env, step.runId),
      this.#keys.signal(env, signal),
      waitKey(step),
      ttlOf({ until }, nowMs),
      replaces ? 1 : '',
      this.#keys.run(env, ''),
    )) as ['stored' | 'taken' | 'ended', string | null | undefined];
    if (outcome !== 'stored') return { outcome };
    return { outcome, replaced: replaced ? stepOf(replaced) : undefined };
  }

  /** The step that waits for the signal. */
  async waiting(env: string, signal: string): Promise<StepRef | undefined> {
    const [key] = await this.#redis.hkeys(this.#keys.signal(env, signal));
    return key === undefined ? undefined : stepOf(key);
  }
}

function stepOf(key: string): StepRef {
  const runId = runOfWait(key);
  return { runId, stepId: key.slice(runId.length + 1) };
}
