/** Records what the service acknowledged. */

export interface Acknowledged {
  internalId: string;
  name: string;
  /** The first acknowledgement. */
  atMs: number;
}

export class Ledger {
  readonly events = new Map<string, Acknowledged>();
  /** Responses with 200, including those to repeated requests. */
  acknowledgements = 0;
  /** Requests sent again without an acknowledgement. */
  resent = 0;
  /** Requests sent again after an acknowledgement. */
  repeated = 0;
  /** Responses with 503 and 429. */
  rejected = 0;
  readonly withoutRetryAfter: string[] = [];
  /** Missing or incomplete responses. */
  unanswered = 0;
  /** Responses other than 200, 429 and 503. */
  readonly unexpected: string[] = [];
  /** Repeated requests that got other event IDs. */
  readonly duplicated: string[] = [];

  /** @param before the event IDs from an earlier acknowledgement of the request */
  acknowledge(ids: string[], name: string, atMs: number, before: string[] | undefined): void {
    this.acknowledgements++;
    if (before) this.repeated++;
    if (before && before.join() !== ids.join()) this.duplicated.push(`${before.join()} was then ${ids.join()}`);
    for (const internalId of ids) {
      if (!this.events.has(internalId)) this.events.set(internalId, { internalId, name, atMs });
    }
  }
}
