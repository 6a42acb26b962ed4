/** Groups requests that arrive together: they share one script, which takes Redis and this process much less time than one script each.
 *  While scripts are in flight, the next group collects; a request that arrives alone waits for none. */

/** Maximum number of scripts in flight. One would leave Redis idle while its response travels; more would make smaller groups. */
const IN_FLIGHT = 2;
/** Maximum number of requests per script, which blocks Redis for a millisecond. */
const REQUESTS_MAX = 50;
/** Approximate maximum of characters per script; a single longer request makes a group by itself. */
const LENGTH_MAX = 1_048_576;

interface Waiting<Request, Reply> {
  request: Request;
  resolve: (reply: Reply) => void;
  reject: (error: unknown) => void;
}

export class Grouped<Request extends { length: number }, Reply> {
  readonly #send: (requests: Request[]) => Promise<Reply[]>;
  #waiting: Waiting<Request, Reply>[] = [];
  #inFlight = 0;
  #isScheduled = false;

  /** @param send sends one script. @returns the replies in the order of the requests */
  constructor(send: (requests: Request[]) => Promise<Reply[]>) {
    this.#send = send;
  }

  /** @throws what `send` throws for its group */
  add(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#schedule();
    });
  }

  /** Requests of one turn of the event loop form a group. */
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= IN_FLIGHT || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#sendGroup();
      this.#schedule();
    });
  }

  async #sendGroup(): Promise<void> {
    const group = this.#takeGroup();
    this.#inFlight++;
    try {
      const replies = await this.#send(group.map(({ request }) => request));
      for (const [i, { resolve }] of group.entries()) resolve(replies[i] as Reply);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#inFlight--;
      this.#schedule();
    }
  }

  #takeGroup(): Waiting<Request, Reply>[] {
    let length = 0;
    let end = 0;
    while (end < this.#waiting.length && end < REQUESTS_MAX) {
      length += (this.#waiting[end] as Waiting<Request, Reply>).request.length;
      if (end > 0 && length > LENGTH_MAX) break;
      end++;
    }
    return this.#waiting.splice(0, end);
  }
}
