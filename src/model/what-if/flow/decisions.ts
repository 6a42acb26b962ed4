/** Simulates the decisions of flow control before a run is created: rate limit and idempotency. */
import type { FlowOptions } from '../../flow-control/options.ts';
import { DAY_MS } from '../../values/time.ts';
import type { SimulatedEvent } from './simulated-flow.ts';

export type Refusal = 'rate_limited' | 'idempotent';

export class SimulatedDecisions {
  readonly #options: FlowOptions;
  /** Admitted events with the times of their admissions, oldest first, by key. */
  readonly #admitted = new Map<string, Map<SimulatedEvent, number>>();
  /** The event that has claimed a key, and when. */
  readonly #claimed = new Map<string, { event: SimulatedEvent; since: number }>();

  constructor(options: FlowOptions) {
    this.#options = options;
  }

  /** undefined: the event continues. */
  refusalOf(event: SimulatedEvent, nowMs: number): Refusal | undefined {
    if (!this.#isAdmitted(event, nowMs)) return 'rate_limited';
    const { idempotency: key } = event;
    if (this.#options.idempotency === undefined || key === undefined) return undefined;
    const claim = this.#claimed.get(key);
    if (claim && nowMs - claim.since < DAY_MS) {
      this.#release(event);
      return 'idempotent';
    }
    this.#claimed.set(key, { event, since: nowMs });
    return undefined;
  }

  /** Undoes the admission of an event that a singleton then skips. */
  takeBack(event: SimulatedEvent): void {
    this.#release(event);
    const { idempotency: key } = event;
    // A debounce may outlast the claim.
    if (key !== undefined && this.#claimed.get(key)?.event === event) this.#claimed.delete(key);
  }

  #isAdmitted(event: SimulatedEvent, nowMs: number): boolean {
    const { rateLimit } = this.#options;
    const { rateLimit: key } = event;
    if (!rateLimit || key === undefined) return true;
    const admitted = this.#admitted.get(key) ?? new Map<SimulatedEvent, number>();
    this.#admitted.set(key, admitted);
    for (const [earlier, at] of admitted) {
      if (at > nowMs - rateLimit.periodMs) break;
      admitted.delete(earlier);
    }
    if (admitted.size >= rateLimit.limit) return false;
    admitted.set(event, nowMs);
    return true;
  }

  #release(event: SimulatedEvent): void {
    const { rateLimit: key } = event;
    if (key !== undefined) this.#admitted.get(key)?.delete(event);
  }
}
