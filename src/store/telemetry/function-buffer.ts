/** Counts and durations of functions and their steps between two writes to Redis, like those of environments
 *  (counter-buffer.ts): a few increments for each run and step that ends. */
import { bucketOf } from '../../model/capacity/histogram.ts';
import { type Durations, EXACT_BELOW } from '../../model/capacity/percentiles.ts';
import { addTo } from '../../model/values/counting.ts';

export const FUNCTION_COUNTERS = ['started', 'completed', 'failed', 'cancelled', 'attemptsFailed'] as const;
export type FunctionCounter = (typeof FUNCTION_COUNTERS)[number];
export type FunctionCounts = Record<FunctionCounter, number>;

/** Maximum number of steps per function counted by name; all others are counted together. */
export const STEP_NAMES_MAX = 50;
/** Maximum length of step names; longer names are truncated. */
const STEP_NAME_LENGTH_MAX = 100;
/** Name that counts all steps beyond the maximum. Steps with an empty name count here, too. */
export const OTHER_STEPS = '';

export interface StepCounts {
  failed: number;
  durations: Durations;
}

/** The last durations, in milliseconds, in addition to all counts. */
export interface Recent {
  recent: number[];
}

export interface BufferedFunction extends Recent {
  counts: FunctionCounts;
  durations: Durations;
  /** Keyed by name. */
  steps: Map<string, StepCounts & Recent>;
}

export class FunctionBuffer {
  /** Keyed by environment, then by function ID. */
  readonly #environments = new Map<string, Map<string, BufferedFunction>>();

  *entries(): Generator<[env: string, functionId: string, counted: BufferedFunction]> {
    for (const [env, functions] of this.#environments) {
      for (const [id, counted] of functions) yield [env, id, counted];
    }
  }

  count(env: string, functionId: string, counter: FunctionCounter): void {
    this.#of(env, functionId).counts[counter]++;
  }

  /** Records the end of a run.
   *  @param ms since its start */
  timeRun(env: string, functionId: string, ms: number): void {
    const counted = this.#of(env, functionId);
    addTo(counted.durations, bucketOf(ms), 1);
    keepRecent(counted, [ms]);
  }

  /** Records the end of a step, or a failed attempt of it. */
  timeStep(env: string, functionId: string, name: string, ms: number, failed: boolean): void {
    const step = stepOf(this.#of(env, functionId), name.slice(0, STEP_NAME_LENGTH_MAX).toWellFormed());
    if (failed) step.failed++;
    addTo(step.durations, bucketOf(ms), 1);
    keepRecent(step, [ms]);
  }

  add(other: FunctionBuffer): void {
    for (const [env, id, { counts, durations, recent, steps }] of other.entries()) {
      const mine = this.#of(env, id);
      for (const counter of FUNCTION_COUNTERS) mine.counts[counter] += counts[counter];
      for (const [bucket, by] of durations) addTo(mine.durations, bucket, by);
      keepRecent(mine, recent);
      for (const [name, step] of steps) {
        const own = stepOf(mine, name);
        own.failed += step.failed;
        for (const [bucket, by] of step.durations) addTo(own.durations, bucket, by);
        keepRecent(own, step.recent);
      }
    }
  }

  delete(env: string, functionId: string): void {
    this.#environments.get(env)?.delete(functionId);
  }

  #of(env: string, functionId: string): BufferedFunction {
    const functions = this.#environments.get(env) ?? new Map<string, BufferedFunction>();
    this.#environments.set(env, functions);
    const there = functions.get(functionId);
    if (there) return there;
    const counted = { counts: emptyFunctionCounts(), durations: new Map(), recent: [], steps: new Map() };
    functions.set(functionId, counted);
    return counted;
  }
}

export function emptyFunctionCounts(): FunctionCounts {
  return { started: 0, completed: 0, failed: 0, cancelled: 0, attemptsFailed: 0 };
}

function keepRecent(counted: Recent, ms: readonly number[]): void {
  counted.recent.push(...ms);
  if (counted.recent.length >= EXACT_BELOW) counted.recent.splice(0, counted.recent.length - (EXACT_BELOW - 1));
}

/** Bounded, because an app may give every step a new name. */
function stepOf({ steps }: BufferedFunction, name: string): StepCounts & Recent {
  const key = steps.has(name) || steps.size < STEP_NAMES_MAX ? name : OTHER_STEPS;
  const there = steps.get(key) ?? { failed: 0, durations: new Map(), recent: [] };
  steps.set(key, there);
  return there;
}
