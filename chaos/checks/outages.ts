/** What senders got while a primary of the cluster was down: those whose partitions are elsewhere must be served. A web process that starts
 *  meanwhile reads every partition first, so outages that begin without a ready one do not count. */
import type { Ledger } from '../load/ledger.ts';
import type { Service } from '../service.ts';
import type { Timeline } from '../timeline.ts';

/** Requests that a sender repeats often enough to say something. */
const ENOUGH_TRIES = 10;

export class Outages {
  acknowledged = 0;
  repeated = 0;
  /** Outages in which no request was acknowledged. */
  readonly total: string[] = [];
  readonly #ledger: Ledger;
  readonly #timeline: Timeline;
  readonly #service: Pick<Service, 'ready'>;

  constructor(service: Pick<Service, 'ready'>, ledger: Ledger, timeline: Timeline) {
    this.#service = service;
    this.#ledger = ledger;
    this.#timeline = timeline;
  }

  /** @param work lasts as long as a primary is down */
  async during(work: () => Promise<void>): Promise<void> {
    const before = this.#counts();
    const fromMs = this.#timeline.nowMs;
    const isServing = this.#service.ready.length > 0;
    await work();
    const after = this.#counts();
    const acknowledged = after.acknowledged - before.acknowledged;
    const repeated = after.repeated - before.repeated;
    this.acknowledged += acknowledged;
    this.repeated += repeated;
    if (!isServing || acknowledged > 0 || repeated < ENOUGH_TRIES) return;
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
    this.total.push(
      `from ${seconds(fromMs)} to ${seconds(this.#timeline.nowMs)}: ${repeated} requests were repeated, none was acknowledged`,
    );
  }

  #counts() {
    // Also those that found no web process ready.
    const { acknowledgements: acknowledged, resent: repeated } = this.#ledger;
    return { acknowledged, repeated };
  }
}
