import type { QueuedRequest } from './queued-request.ts';

/** One queue per webhook, served round-robin, so that a webhook with many requests does not hold up the others. */
export class FairQueue {
  readonly #limit: number;
  /** Queues in the order of service: a queue that was served moves to the end. */
  readonly #queues = new Map<string, QueuedRequest[]>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size() {
    return this.#size;
  }

  sizeOf(key: string): number {
    return this.#queues.get(key)?.length ?? 0;
  }

  /** Returns the request that must leave when the limit is exceeded: the last request of the longest queue. */
  add(request: QueuedRequest): QueuedRequest | undefined {
    if (this.#size >= this.#limit) this.#dropSettled();
    const queue = this.#queues.get(request.key);
    if (queue) queue.push(request);
    else this.#queues.set(request.key, [request]);
    this.#size += 1;
    return this.#size > this.#limit ? this.#removeLastOfLongest(request.key) : undefined;
  }

  /** The next request, in turn, of the webhooks that may run. */
  next(mayRun: (key: string) => boolean = () => true): QueuedRequest | undefined {
    for (const [key, queue] of this.#queues) {
      if (!mayRun(key)) continue;
      this.#queues.delete(key);
      let request = queue.shift();
      while (request?.settled) {
        this.#size -= 1;
        request = queue.shift();
      }
      if (queue.length > 0) this.#queues.set(key, queue);
      if (request === undefined) continue;
      this.#size -= 1;
      return request;
    }
    return undefined;
  }

  /** The next requests of one webhook, out of turn. */
  nextOf(key: string, limit: number): QueuedRequest[] {
    const queue = this.#queues.get(key) ?? [];
    const taken: QueuedRequest[] = [];
    while (taken.length < limit && queue.length > 0) {
      const request = queue.shift() as QueuedRequest;
      this.#size -= 1;
      if (!request.settled) taken.push(request);
    }
    if (queue.length === 0) this.#queues.delete(key);
    return taken;
  }

  /** Returns unserved requests of one webhook to the front of its queue. */
  putBack(requests: readonly QueuedRequest[]) {
    const [first] = requests;
    if (first === undefined) return;
    this.#queues.set(first.key, [...requests, ...(this.#queues.get(first.key) ?? [])]);
    this.#size += requests.length;
  }

  /** Removes all requests of one webhook. */
  withdraw(key: string): QueuedRequest[] {
    const queue = this.#queues.get(key) ?? [];
    this.#queues.delete(key);
    this.#size -= queue.length;
    return queue;
  }

  drain(): QueuedRequest[] {
    return [...this.#queues.keys()].flatMap((key) => this.withdraw(key));
  }

  #removeLastOfLongest(preferred: string) {
    let longest = this.#queues.get(preferred) ?? [];
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue;
    const last = longest.pop();
    this.#size -= 1;
    if (last && longest.length === 0) this.#queues.delete(last.key);
    return last;
  }

  #dropSettled() {
    for (const key of [...this.#queues.keys()]) {
      const open = this.withdraw(key).filter((request) => !request.settled);
      if (open.length > 0) this.#queues.set(key, open);
      this.#size += open.length;
    }
  }
}
