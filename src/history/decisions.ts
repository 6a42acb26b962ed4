/** Decisions about events, hot or archived. */
import type { Archive } from '../archive/archive.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { decodeDecisions, type StoredDecision } from '../model/flow-control/decision-encoding.ts';
import type { Decisions } from '../store/flow-control/decisions.ts';
import type { EventHistory } from './event-history.ts';

export class DecisionHistory {
  readonly #decisions: Pick<Decisions, 'of'>;
  readonly #events: EventHistory;
  readonly #archive: Archive;

  constructor({
    decisions,
    events,
    archive,
  }: { decisions: Pick<Decisions, 'of'>; events: EventHistory; archive: Archive }) {
    this.#decisions = decisions;
    this.#events = events;
    this.#archive = archive;
  }

  /** One decision per function.
   *  @throws ServiceError archive_unavailable */
  async of(env: string, eventId: string): Promise<StoredDecision[]> {
    const hot = await this.#decisions.of(env, eventId);
    if (await this.#events.isCertainlyHot(env, eventId)) return hot;
    const bytes = await this.#archive.events.decisionsOf(env, eventId, Date.now()).catch(async (error) => {
      // Redis has all decisions if none of them was removed.
      if (isArchiveUnavailable(error) && (await this.#events.isInRedis(env, eventId))) return undefined;
      throw error;
    });
    const archived = bytes ? decodeDecisions(bytes) : [];
    // Later decisions take precedence.
    return [...new Map([...archived, ...hot].map((decision) => [decision.digest, decision])).values()];
  }
}
