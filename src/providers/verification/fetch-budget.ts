/** Limits how many never-valid documents one webhook fetches: strangers choose their URLs. */
import { LRUCache } from 'lru-cache';

export const FETCHES_PER_MINUTE = 10;
/** Additional fetches of URLs rejected in an earlier minute: a provider repeats its URL, so a forger with ever new URLs cannot lock it
 *  out. */
const REPEATED_PER_MINUTE = 5;
const MAX_REFUSED = 1_000;

export class FetchBudget {
  #minute = 0;
  #fetches = 0;
  #repeated = 0;
  /** The minute in which each URL was first rejected. */
  readonly #refused = new LRUCache<string, number>({ max: MAX_REFUSED });

  take(url: string, nowMs: number): boolean {
    this.#startMinute(Math.floor(nowMs / 60_000));
    const refusedIn = this.#refused.get(url);
    if (this.#fetches < FETCHES_PER_MINUTE) this.#fetches += 1;
    else if (refusedIn !== undefined && refusedIn < this.#minute && this.#repeated < REPEATED_PER_MINUTE)
      this.#repeated += 1;
    else {
      if (refusedIn === undefined) this.#refused.set(url, this.#minute);
      return false;
    }
    this.#refused.delete(url);
    return true;
  }

  #startMinute(minute: number): void {
    if (minute === this.#minute) return;
    this.#minute = minute;
    this.#fetches = 0;
    this.#repeated = 0;
  }
}
