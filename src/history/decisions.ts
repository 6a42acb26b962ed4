/** Decisions about events, hot or archived. */
import type { Archive } from '../archive/archive.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { decodeDecisions, type StoredDecision } from '../model/flow-control/decision-encoding.ts';
import { Composed } from '../model/values/composed.ts';
import type { Decisions } from '../store/flow-control/decisions.ts';
import type { EventHistory } from './event-history.ts';

export class DecisionHistory extends Composed<{
  decisions: Pick<Decisions, 'of'>;
  events: EventHistory;
  archive: Archive;
}> {
  /** One decision per function.
   *  @throws ServiceError archive_unavailable */
  async of(env: string, eventId: string): Promise<StoredDecision[]> {
    const hot = await this.deps.decisions.of(env, eventId);
    if (await this.deps.events.isCertainlyHot(env, eventId)) return hot;
    const bytes = await this.deps.archive.events.decisionsOf(env, eventId, Date.now()).catch(async (error) => {
      // Redis has all decisions if none of them was removed.
      if (isArchiveUnavailable(error) && (await this.deps.events.isInRedis(env, eventId))) return undefined;
      throw error;
    });
    const archived = bytes ? decodeDecisions(bytes) : [];
    // Later decisions take precedence.
    return [...new Map([...archived, ...hot].map((decision) => [decision.digest, decision])).values()];
  }
}
