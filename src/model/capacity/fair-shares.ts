/** Shares a worker's capacity for calls between environments and apps. Calls cannot be interrupted, so capacity must be
 *  free before calls of other groups arrive: a group may use its own share and part of the unused capacity. A single
 *  group uses nearly all capacity, several groups share it, and some capacity always stays free for new groups (dynamic
 *  thresholds, Choudhury and Hahne 1998). */

import { PRODUCTION } from '../environment.ts';

/** The environment and app that a call belongs to. */
export interface CallOwner {
  env: string;
  /** Whether the environment is a branch. */
  branch: boolean;
  app: string;
}

export interface ShareSettings {
  /** Maximum number of calls in flight. */
  capacity: number;
  /** Share of all branch environments together, from 0 to 1. */
  branchShare: number;
  /** Share of one environment, and of one app in it, from 0 to 1. */
  appShare: number;
}

export class FairShares {
  readonly #settings: ShareSettings;
  /** Calls in flight by environment and by app. */
  readonly #inEnv = new Map<string, number>();
  readonly #inApp = new Map<string, number>();
  #total = 0;
  #inBranches = 0;

  constructor(settings: ShareSettings) {
    this.#settings = settings;
  }

  /** How many more calls the app may start now; 0 or less: none.
   *  @param limit the app's own limit */
  available({ env, branch, app }: CallOwner, limit = Number.POSITIVE_INFINITY): number {
    const { capacity, branchShare, appShare } = this.#settings;
    const inApp = this.inFlight(env, app);
    const inEnv = this.#inEnv.get(env) ?? 0;
    let available = capacity - this.#total;
    if (branch) available = within(this.#inBranches, available, branchShare);
    // Other environments never reduce the share of production.
    if (env === PRODUCTION) available = Math.min(available, Math.max(1, Math.floor(capacity * appShare)) - inEnv);
    else available = within(inEnv, available, appShare);
    return Math.min(within(inApp, available, appShare), limit - inApp);
  }

  start({ env, branch, app }: CallOwner): void {
    this.#count(env, branch, app, 1);
  }

  end({ env, branch, app }: CallOwner): void {
    this.#count(env, branch, app, -1);
  }

  inFlight(env: string, app: string): number {
    return this.#inApp.get(appKey(env, app)) ?? 0;
  }

  #count(env: string, branch: boolean, app: string, by: 1 | -1): void {
    this.#total += by;
    if (branch) this.#inBranches += by;
    add(this.#inEnv, env, by);
    add(this.#inApp, appKey(env, app), by);
  }
}

/** Unambiguous: environment names have no spaces. */
export function appKey(env: string, app: string): string {
  return `${env} ${app}`;
}

/** How much of the available capacity a group may take in addition: at least one call, if any capacity is available. */
function within(used: number, available: number, share: number): number {
  return Math.min(available, Math.max(1, Math.floor(share * (used + available))) - used);
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
