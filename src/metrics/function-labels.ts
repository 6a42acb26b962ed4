/** Decides which functions have their own series: their number is unbounded, so only the first functions get a series,
 *  and a series without values for an hour is dropped. */
import { scopedFunction } from '../model/apps/scoped-function.ts';
import { HOUR_MS } from '../model/values/time.ts';

export type FunctionLabel = readonly [environment: string, functionId: string];

/** The label for all functions beyond the maximum. */
export const OTHER: FunctionLabel = ['other', 'other'];

const MOST = 200;
const IDLE_MS = HOUR_MS;

interface Known {
  label: FunctionLabel;
  usedAt: number;
}

export class FunctionLabels {
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Label of a function with a new value. */
  of(env: string, functionId: string): FunctionLabel {
    const key = scopedFunction(env, functionId);
    let found = this.#known.get(key);
    if (!found) {
      if (this.#known.size >= MOST) return OTHER;
      found = { label: [env, functionId], usedAt: 0 };
      this.#known.set(key, found);
    }
    found.usedAt = this.#now();
    return found.label;
  }

  all(): FunctionLabel[] {
    return [...this.#known.values()].map(({ label }) => label);
  }

  /** @returns dropped labels */
  forgetIdle(): FunctionLabel[] {
    const since = this.#now() - IDLE_MS;
    const idle = [...this.#known].filter(([, { usedAt }]) => usedAt < since);
    for (const [key] of idle) this.#known.delete(key);
    return idle.map(([, { label }]) => label);
  }
}
