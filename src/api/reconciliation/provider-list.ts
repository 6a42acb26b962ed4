/** A webhook's access to its provider's list of sent requests. Each unsuccessful response becomes a problem with the
 *  time of the next attempt. */
import type { ProviderClient, ProviderResponse } from '../../functions/provider-client.ts';
import { ProviderUnreachable } from '../../functions/provider-client.ts';
import { retryAfterMs } from '../../model/runs/retry.ts';
import { Composed } from '../../model/values/composed.ts';
import { HOUR_MS, iso, MINUTE_MS } from '../../model/values/time.ts';
import type { SentList } from '../../providers/sent-list.ts';
import {
  itemUrl,
  listUrl,
  type MadeRequest,
  pageOf,
  redeliverUrl,
  requestOf,
  type SentAccount,
  SentListError,
  type SentPage,
  type Span,
  sentHeaders,
  subscriptionUrl,
  typesOf,
} from '../../providers/sent-requests.ts';

/** Pause after a rate limit if the provider does not say when to try again. */
const RATE_LIMIT_MS = MINUTE_MS;
/** Request Timeout and Too Early, which are not about the request itself: https://www.rfc-editor.org/rfc/rfc9110#section-15.5 */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425]);

/** Why a pass cannot continue now. */
export class ListProblem extends Error {
  override name = 'ListProblem';
  readonly reason: string;
  /** undefined: the delay grows with each failure. */
  readonly retryMs: number | undefined;
  /** Whether the provider refuses this one request, not the key, nor requests at this time. */
  readonly isRefusal: boolean;

  constructor(reason: string, message: string, retryMs?: number, isRefusal = false) {
    super(message.slice(0, 500));
    this.reason = reason;
    this.retryMs = retryMs;
    this.isRefusal = isRefusal;
  }
}

export class ProviderList extends Composed<{
  client: Pick<ProviderClient, 'send'>;
  list: SentList;
  account: SentAccount;
  name: string;
}> {
  /** Unix milliseconds: the rate limit is used up until then. */
  #restsUntil = 0;

  /** @throws ListProblem */
  async types(): Promise<ReadonlySet<string> | undefined> {
    const url = subscriptionUrl(this.deps.list, this.deps.account);
    if (url === undefined) return undefined;
    const { text } = await this.#get(url);
    return this.#read(() => typesOf(this.deps.list, text));
  }

  /** @throws ListProblem */
  async page(span: Span, cursor: string | undefined, types: ReadonlySet<string> | undefined): Promise<SentPage> {
    const { text, headers } = await this.#get(listUrl(this.deps.list, this.deps.account, span, cursor));
    return this.#read(() => pageOf(this.deps.list, text, headers, types));
  }

  /** @returns undefined if the provider no longer has the item; `request` is undefined if it has it without its body
   *  @throws ListProblem */
  async item(ref: string): Promise<{ request: MadeRequest | undefined } | undefined> {
    const response = await this.#send('GET', itemUrl(this.deps.list, this.deps.account, ref));
    if (response.status === 404 || response.status === 410) return undefined;
    this.#check(response);
    return { request: this.#read(() => requestOf(this.deps.list, response.text)) };
  }

  /** Asks the provider to send a request again. @returns whether it does @throws ListProblem */
  async redeliver(ref: string): Promise<boolean> {
    const url = redeliverUrl(this.deps.list, this.deps.account, ref);
    if (url === undefined) return false;
    const response = await this.#send('POST', url);
    if (response.status >= 400 && response.status < 500 && !isRateLimit(response)) return false;
    this.#check(response);
    return true;
  }

  async #get(url: string): Promise<ProviderResponse> {
    const response = await this.#send('GET', url);
    this.#check(response);
    return response;
  }

  async #send(method: 'GET' | 'POST', url: string): Promise<ProviderResponse> {
    const now = Date.now();
    if (this.#restsUntil > now) {
      throw new ListProblem(
        'rate_limited',
        `${this.deps.name} takes no more requests until ${iso(this.#restsUntil)}`,
        this.#restsUntil - now,
      );
    }
    let headers: Record<string, string>;
    try {
      headers = sentHeaders(this.deps.list, this.deps.account, now);
    } catch {
      throw new ListProblem('key_rejected', `the key is not a private key of an app of ${this.deps.name}`, HOUR_MS);
    }
    try {
      const response = await this.deps.client.send(method, url, headers);
      this.#noteRateLimit(response);
      return response;
    } catch (error) {
      if (!(error instanceof ProviderUnreachable)) throw error;
      throw new ListProblem(error.reason, error.message, error.reason === 'address_blocked' ? HOUR_MS : undefined);
    }
  }

  #noteRateLimit({ headers }: ProviderResponse): void {
    const { remaining, reset } = this.deps.list.rateLimit ?? {};
    if (remaining === undefined || reset === undefined || headers[remaining] !== '0') return;
    const until = Number(headers[reset]) * 1_000;
    if (Number.isFinite(until)) this.#restsUntil = Math.min(until, Date.now() + HOUR_MS);
  }

  /** @throws ListProblem */
  #check(response: ProviderResponse): void {
    const { status, headers } = response;
    if (status >= 200 && status < 300) return;
    const name = this.deps.name;
    const now = Date.now();
    const retryMs = retryAfterMs(headers['retry-after'], now);
    const restMs = this.#restsUntil > now ? this.#restsUntil - now : undefined;
    if (isRateLimit(response) || (status === 403 && restMs !== undefined)) {
      const delayMs = retryMs ?? restMs ?? RATE_LIMIT_MS;
      throw new ListProblem('rate_limited', `${name} answered ${status}: too many requests`, delayMs);
    }
    if (status === 401 || status === 403) {
      throw new ListProblem(
        'key_rejected',
        `${name} answered ${status}: the key is wrong, or may not read this list`,
        HOUR_MS,
      );
    }
    if (status === 404 || status === 410) {
      throw new ListProblem(
        'list_unknown',
        `${name} answered ${status}: it does not know the list of this account`,
        HOUR_MS,
        true,
      );
    }
    const isRefusal = status >= 400 && status < 500 && !PASSING_STATUSES.has(status);
    throw new ListProblem('provider_failed', `${name} answered ${status}`, retryMs, isRefusal);
  }

  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SentListError)) throw error;
      throw new ListProblem('answer_invalid', `${this.deps.name}: ${error.message}`);
    }
  }
}

function isRateLimit({ status, headers }: ProviderResponse): boolean {
  return status === 429 || ((status === 403 || status === 503) && headers['retry-after'] !== undefined);
}
