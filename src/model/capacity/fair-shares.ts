/** How a worker's calls in flight are shared between environments and apps. Calls cannot be interrupted, so room for others has to be
 *  there before they come: a group may hold a share of what it and nobody else is using. One that is alone holds nearly all, several share,
 *  and some always stays free for whoever comes next (dynamic thresholds, Choudhury and Hahne 1998). */

import { PRODUCTION } from '../environment.ts';

/** Who a call is for. */
export interface CallOwner {
  env: string;
  /** Of a branch environment. */
  branch: boolean;
  app: string;
}

export interface ShareSettings {
  /** Calls in flight in all. */
  capacity: number;
  /** Of what all branch environments together could use, from 0 to 1. */
  branchShare: number;
  /** Of what one environment, or one app in it, could use, from 0 to 1. */
  appShare: number;
}

export class FairShares {
  readonly #settings: ShareSettings;
  /** In flight, by environment, and by app. */
  readonly #inEnv = new Map<string, number>();
  readonly #inApp = new Map<string, number>();
  #total = 0;
  #inBranches = 0;

  constructor(settings: ShareSettings) {
    this.#settings = settings;
  }

  /** How many more calls the app may have in flight now; 0 or less: none.
   *  @param limit the app's own */
  room({ env, branch, app }: CallOwner, limit = Number.POSITIVE_INFINITY): number {
    const { capacity, branchShare, appShare } = this.#settings;
    const inApp = this.inFlight(env, app);
    const inEnv = this.#inEnv.get(env) ?? 0;
    let room = capacity - this.#total;
    if (branch) room = within(this.#inBranches, room, branchShare);
    // Production's share does not shrink when others take theirs.
    if (env === PRODUCTION) room = Math.min(room, Math.max(1, Math.floor(capacity * appShare)) - inEnv);
    else room = within(inEnv, room, appShare);
    return Math.min(within(inApp, room, appShare), limit - inApp);
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

/** No environment's name has a space. */
export function appKey(env: string, app: string): string {
  return `${env} ${app}`;
}

/** Of the room there is, what a group that uses so much already may take: one always, if there is any. */
function within(used: number, room: number, share: number): number {
  return Math.min(room, Math.max(1, Math.floor(share * (used + room))) - used);
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
