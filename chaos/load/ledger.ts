/** Counts what the service answered, and has the events that it acknowledged. */

export interface Acknowledged {
  internalId: string;
  name: string;
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

  /** @param isRepeated the request was acknowledged before */
  acknowledge(ids: string[], name: string, isRepeated: boolean): void {
    this.acknowledgements++;
    if (isRepeated) this.repeated++;
    for (const internalId of ids) {
      if (!this.events.has(internalId)) this.events.set(internalId, { internalId, name });
    }
  }
}
