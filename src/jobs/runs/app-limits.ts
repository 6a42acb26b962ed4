/** What each app stands, as this worker has found it: the adaptive limit of its calls in flight. */
import { LRUCache } from 'lru-cache';
import { AdaptiveLimit, type FinishedCall, type ThrottledApp } from '../../model/capacity/adaptive-limit.ts';
import { appKey } from '../../model/capacity/fair-shares.ts';

/** Apps that are remembered: those called last. */
const APPS_KNOWN = 1_000;
/** Of those that are slowed, so many are told of. */
const TOLD_MAX = 100;

export class AppLimits {
  readonly #max: number;
  readonly #known = new LRUCache<string, { env: string; app: string; adaptive: AdaptiveLimit }>({ max: APPS_KNOWN });

  constructor(max: number) {
    this.#max = max;
  }

  of(env: string, app: string): number {
    return this.#known.get(appKey(env, app))?.adaptive.limit ?? this.#max;
  }

  note(env: string, app: string, call: FinishedCall): void {
    const key = appKey(env, app);
    let known = this.#known.get(key);
    if (!known) {
      known = { env, app, adaptive: new AdaptiveLimit(this.#max) };
      this.#known.set(key, known);
    }
    known.adaptive.record(call);
  }

  slowed(): ThrottledApp[] {
    const all: ThrottledApp[] = [];
    for (const { env, app, adaptive } of this.#known.values()) {
      const { throttled: slowed, limit } = adaptive;
      if (slowed && all.push({ env, app, limit, max: this.#max, ...slowed }) === TOLD_MAX) break;
    }
    return all;
  }
}
