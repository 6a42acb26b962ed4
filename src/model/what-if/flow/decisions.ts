/** Simulates the decisions of flow control before a run is created: rate limit and idempotency. */
import type { FlowOptions } from '../../flow-control/options.ts';
import { DAY_MS } from '../../values/time.ts';
import type { SimulatedEvent } from './simulated-flow.ts';

export type Refusal = 'rate_limited' | 'idempotent';

export class SimulatedDecisions {
  readonly #options: FlowOptions;
  /** Times of admissions by key, oldest first. */
  readonly #admitted = new Map<string, number[]>();
  /** Time of the first run by key. */
  readonly #claimed = new Map<string, number>();

  constructor(options: FlowOptions) {
    this.#options = options;
  }

  /** undefined: the event continues. */
  refusalOf(event: SimulatedEvent, nowMs: number): Refusal | undefined {
    if (!this.#isAdmitted(event, nowMs)) return 'rate_limited';
    const { idempotency: key } = event;
    if (this.#options.idempotency === undefined || key === undefined) return undefined;
    const since = this.#claimed.get(key);
    if (since !== undefined && nowMs - since < DAY_MS) {
      this.#release(event);
      return 'idempotent';
    }
    this.#claimed.set(key, nowMs);
    return undefined;
  }

  /** Undoes the admission of an event that a singleton then skips. */
  takeBack(event: SimulatedEvent): void {
    this.#release(event);
    if (this.#options.idempotency !== undefined && event.idempotency !== undefined) {
      this.#claimed.delete(event.idempotency);
    }
  }

  #isAdmitted({ rateLimit: key }: SimulatedEvent, nowMs: number): boolean {
    const { rateLimit } = this.#options;
    if (!rateLimit || key === undefined) return true;
    const admitted = this.#admitted.get(key) ?? [];
    this.#admitted.set(key, admitted);
    while (admitted[0] !== undefined && admitted[0] <= nowMs - rateLimit.periodMs) admitted.shift();
    if (admitted.length >= rateLimit.limit) return false;
    admitted.push(nowMs);
    return true;
  }

  #release({ rateLimit: key }: SimulatedEvent): void {
    if (this.#options.rateLimit && key !== undefined) this.#admitted.get(key)?.pop();
  }
}
