/** What the service has acknowledged, and what it is held to for that. */

export interface Acknowledged {
  internalId: string;
  name: string;
  /** The first acknowledgement. */
  atMs: number;
}

export class Ledger {
  readonly events = new Map<string, Acknowledged>();
  /** Requests that were answered 200, also those that were sent again. */
  acknowledgements = 0;
  /** Requests that were sent again because nobody had acknowledged them. */
  resent = 0;
  /** Requests that carried an ID that had been acknowledged before. */
  repeated = 0;
  /** 503 and 429: the sender is told to come later. */
  refused = 0;
  /** No answer, or a broken one. */
  unanswered = 0;
  /** Answers that no sender should ever get. */
  readonly wrong: string[] = [];
  /** The same event, under another ID. */
  readonly twice: string[] = [];

  /** @param before what an earlier acknowledgement of the same request said */
  acknowledge(ids: string[], name: string, atMs: number, before: string[] | undefined): void {
    this.acknowledgements++;
    if (before) this.repeated++;
    if (before && before.join() !== ids.join()) this.twice.push(`${before.join()} was then ${ids.join()}`);
    for (const internalId of ids) {
      if (!this.events.has(internalId)) this.events.set(internalId, { internalId, name, atMs });
    }
  }
}
