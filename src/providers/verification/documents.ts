/** Documents of providers by URL: certificates and key sets. Anybody who knows a webhook's URL can send requests that
 *  name documents, so requests must not cause frequent fetches: results and failures are cached, concurrent requests
 *  share a fetch, and the fetches of documents that were never valid are limited per webhook. Nobody can lock out the
 *  provider: a known document remains usable while it is fetched again, and its fetches are not limited. */
import { LRUCache } from 'lru-cache';
import { FETCHES_PER_MINUTE, type FetchBudget } from './fetch-budget.ts';
import { type Failure, type FetchDocument, failed, type VerifyOptions } from './verification.ts';

const MAX_DOCUMENTS = 100;
const FAILURE_MAX_AGE_MS = 30_000;
/** A document remains usable for this many times its maximum age while it is refetched, or cannot be. */
const STALE_FACTOR = 2;

interface Kept<T> {
  at: number;
  value: T;
}

export class Documents<T extends object> {
  /** Separate, because strangers can cause failures, which must not displace documents. */
  readonly #parsed = new LRUCache<string, Kept<T>>({ max: MAX_DOCUMENTS });
  readonly #failures = new LRUCache<string, Kept<Failure>>({ max: MAX_DOCUMENTS });
  readonly #fetches = new Map<string, Promise<T | Failure>>();
  readonly #parse: (text: string) => T;

  /** @param parse throws an Error with a message for people */
  constructor(parse: (text: string) => T) {
    this.#parse = parse;
  }

  /** @param url already verified to be the provider's
   *  @param maxAgeMs an older document is refetched, and remains usable for the same time again */
  async get(url: string, maxAgeMs: number, options: VerifyOptions, budget: FetchBudget): Promise<T | Failure> {
    const parsed = this.#parsed.get(url);
    const ageMs = parsed ? options.nowMs - parsed.at : Number.POSITIVE_INFINITY;
    if (parsed && ageMs < maxAgeMs) return parsed.value;
    const newer = this.#fetched(url, options, budget);
    return parsed && ageMs < STALE_FACTOR * maxAgeMs ? parsed.value : newer;
  }

  /** Like {@link get}, for a caller who needs a newer document. */
  async getNewer(url: string, maxAgeMs: number, options: VerifyOptions, budget: FetchBudget): Promise<T | Failure> {
    const parsed = this.#parsed.get(url);
    return parsed && options.nowMs - parsed.at < maxAgeMs ? parsed.value : this.#fetched(url, options, budget);
  }

  /** Never rejects. */
  async #fetched(url: string, options: VerifyOptions, budget: FetchBudget): Promise<T | Failure> {
    const { nowMs } = options;
    const failure = this.#failures.get(url);
    if (failure && nowMs - failure.at < FAILURE_MAX_AGE_MS) return failure.value;
    const underWay = this.#fetches.get(url);
    if (underWay) return underWay;
    if (!this.#parsed.has(url) && !budget.take(url, nowMs)) {
      return failed(
        'certificate_unavailable',
        `requests of this minute named more than ${FETCHES_PER_MINUTE} unknown URLs`,
      );
    }
    const fetch = this.#fetch(url, options).finally(() => this.#fetches.delete(url));
    this.#fetches.set(url, fetch);
    return fetch;
  }

  async #fetch(url: string, { nowMs, fetchDocument }: VerifyOptions): Promise<T | Failure> {
    let text: string;
    try {
      text = await fetchDocument(url);
    } catch (error) {
      return this.#keep(url, nowMs, failed('certificate_unavailable', `${url} was not fetched: ${messageOf(error)}`));
    }
    try {
      const value = this.#parse(text);
      this.#parsed.set(url, { at: nowMs, value });
      this.#failures.delete(url);
      return value;
    } catch (error) {
      return this.#keep(url, nowMs, failed('certificate_untrusted', `${url}: ${messageOf(error)}`));
    }
  }

  #keep(url: string, at: number, value: Failure): Failure {
    this.#failures.set(url, { at, value });
    return value;
  }
}

/** All webhooks of a process share the documents of its fetcher; webhooks are recompiled at each change of one. */
export function perFetcher<T extends object>(make: () => T): (fetchDocument: FetchDocument) => T {
  const made = new WeakMap<FetchDocument, T>();
  return (fetchDocument) => {
    const known = made.get(fetchDocument) ?? make();
    made.set(fetchDocument, known);
    return known;
  };
}

export function isFailure(result: object): result is Failure {
  return 'result' in result && result.result === 'failed';
}

function messageOf(error: unknown): string {
  return (error as Error).message.slice(0, 200);
}
