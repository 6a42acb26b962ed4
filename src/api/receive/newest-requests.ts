import type { LoggedRequest } from '../../model/webhooks/request-log.ts';

/** A request of a webhook that waits to be written to its log. */
export interface BufferedRequest {
  request: LoggedRequest;
  bytes: number;
}

/** The newest requests of a webhook, as many as its log keeps. Holding more would cost: the garbage collector copies what lives longer. */
export class NewestRequests {
  readonly #max: number;
  readonly #requests: BufferedRequest[] = [];
  #oldest = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#max > 0 && this.#requests.length >= this.#max;
  }

  /** @returns the request that the new one displaces, which may be the new one itself */
  add(request: BufferedRequest): BufferedRequest | undefined {
    if (this.#max === 0) return request;
    if (!this.isFull) {
      this.#requests.push(request);
      return undefined;
    }
    const displaced = this.#requests[this.#oldest];
    this.#requests[this.#oldest] = request;
    this.#oldest = (this.#oldest + 1) % this.#max;
    return displaced;
  }

  /** Oldest first. */
  inOrder(): BufferedRequest[] {
    return [...this.#requests.slice(this.#oldest), ...this.#requests.slice(0, this.#oldest)];
  }
}
