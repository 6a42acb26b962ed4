/** The adaptive limit of each app's calls in flight, as this worker has learned it from finished calls. */
import { LRUCache } from 'lru-cache';
import { AdaptiveLimit, type FinishedCall, type ThrottledApp } from '../../model/capacity/adaptive-limit.ts';
import { appKey } from '../../model/capacity/fair-shares.ts';

/** Most recently called apps that are remembered. */
const APPS_MAX = 1_000;
/** Slowed apps that are reported. */
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
