/** Documents of providers by URL: certificates and key sets. A stranger who knows the URL of a webhook can name documents in requests, so nothing of his
 *  makes the service ask a host often: results are kept, failures too, requests of the same moment share one fetch, and a webhook fetches few. */
import { LRUCache } from 'lru-cache';
import { type Failure, type FetchDocument, failed, type VerifyOptions } from './verification.ts';

const MAX_DOCUMENTS = 100;
const FAILURE_MAX_AGE_MS = 30_000;
const FETCHES_PER_MINUTE = 10;

/** Limits the fetches of one webhook. */
export class FetchBudget {
  #minute = 0;
  #fetches = 0;

  take(nowMs: number): boolean {
    const minute = Math.floor(nowMs / 60_000);
    if (minute !== this.#minute) this.#fetches = 0;
    this.#minute = minute;
    this.#fetches += 1;
    return this.#fetches <= FETCHES_PER_MINUTE;
  }
}

interface Kept<T> {
  at: number;
  value: T;
}

export class Documents<T extends object> {
  /** Apart: failures, which strangers can cause, do not displace documents. */
  readonly #parsed = new LRUCache<string, Kept<T>>({ max: MAX_DOCUMENTS });
  readonly #failures = new LRUCache<string, Kept<Failure>>({ max: MAX_DOCUMENTS });
  readonly #fetches = new Map<string, Promise<T | Failure>>();
  readonly #parse: (text: string) => T;

  /** @param parse throws an Error with a message for people */
  constructor(parse: (text: string) => T) {
    this.#parse = parse;
  }

  /** @param url is one of the provider's: checked before
   *  @param maxAgeMs an older document is fetched again */
  async get(url: string, maxAgeMs: number, options: VerifyOptions, budget: FetchBudget): Promise<T | Failure> {
    const { nowMs } = options;
    const parsed = this.#parsed.get(url);
    if (parsed && nowMs - parsed.at < maxAgeMs) return parsed.value;
    const failure = this.#failures.get(url);
    if (failure && nowMs - failure.at < FAILURE_MAX_AGE_MS) return failure.value;
    const underWay = this.#fetches.get(url);
    if (underWay) return underWay;
    if (!budget.take(nowMs)) {
      return failed(
        'certificate_unavailable',
        `requests of the last minute named more than ${FETCHES_PER_MINUTE} URLs`,
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

/** All webhooks of a process share what its fetcher fetched; webhooks are compiled again at each change of one. */
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
