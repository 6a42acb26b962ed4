/** Adaptive limits of calls in flight per app, learned by this worker from finished calls. */
import { LRUCache } from 'lru-cache';
import { AdaptiveLimit, type FinishedCall, type ThrottledApp } from '../../../model/capacity/adaptive-limit.ts';
import { appKey } from '../../../model/capacity/fair-shares.ts';

/** Maximum number of remembered apps, most recently called first. */
const APPS_MAX = 1_000;
/** Maximum number of reported throttled apps. */
const REPORTED_MAX = 100;

export class AppLimits {
  readonly #max: number;
  readonly #apps = new LRUCache<string, { env: string; app: string; adaptive: AdaptiveLimit }>({ max: APPS_MAX });

  constructor(max: number) {
    this.#max = max;
  }

  of(env: string, app: string): number {
    return this.#apps.get(appKey(env, app))?.adaptive.limit ?? this.#max;
  }

  record(env: string, app: string, call: FinishedCall): void {
    const key = appKey(env, app);
    let known = this.#apps.get(key);
    if (!known) {
      known = { env, app, adaptive: new AdaptiveLimit(this.#max) };
      this.#apps.set(key, known);
    }
    known.adaptive.record(call);
  }

  throttled(): ThrottledApp[] {
    const all: ThrottledApp[] = [];
    for (const { env, app, adaptive } of this.#apps.values()) {
      const { throttled, limit } = adaptive;
      if (throttled && all.push({ env, app, limit, max: this.#max, ...throttled }) === REPORTED_MAX) break;
    }
    return all;
  }
}
