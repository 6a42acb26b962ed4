/** Lists of events across Redis and the archive. */
import type { Archive } from '../archive/archive.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { Composed } from '../model/values/composed.ts';
import { type EventLists, type EventPage, type EventQuery, isListed } from '../store/events/event-lists.ts';
import type { Events, FoundEvent } from '../store/events/events.ts';
import type { TimeRange } from '../store/redis/pagination.ts';
import type { EventHistory } from './event-history.ts';
import { archiveBorder, type MaybeIncomplete, mergedPage, type Page, startOf } from './merged-page.ts';

export type ListedEvents = EventPage & MaybeIncomplete;

export class EventListHistory extends Composed<{
  events: Pick<Events, 'readMany'>;
  lists: EventLists;
  history: EventHistory;
  archive: Archive;
}> {
  async list(query: EventQuery, nowMs: number): Promise<ListedEvents> {
    const { env, name, names = name === undefined ? undefined : [name], source, limit } = query;
    const timeRange = await this.#withinRetention(query, nowMs);
    const page = await mergedPage<FoundEvent>(
      {
        timeRange,
        limit,
        positionOf: ({ received_at, internal_id }) => ({ at: received_at, id: internal_id }),
        hot: async () => toPage(await this.deps.lists.list({ ...query, timeRange }, nowMs)),
        archived: async (timeRange) => {
          const page = await this.deps.archive.events.page(env, { names, source, timeRange, limit }, nowMs);
          return { ...page, items: await this.deps.history.found(env, page.events) };
        },
      },
      archiveBorder(this.deps.archive, nowMs),
    );
    return { events: [...page.items], next: page.next, stoppedEarly: page.stoppedEarly };
  }

  async listById(id: string, query: EventQuery): Promise<ListedEvents> {
    const { env } = query;
    const nowMs = Date.now();
    const wanted = { ...query, timeRange: await this.#withinRetention(query, nowMs) };
    const named = await this.deps.lists.newestNamed(env, id);
    const ids = (found: string | undefined) => [...new Set(found === undefined ? [id] : [id, found])];
    try {
      const older = named ?? (await this.deps.archive.events.byDeduplicationId(env, id, nowMs))?.internalId;
      const events = await this.deps.history.readMany(env, ids(older));
      return { events: events.filter((event) => isListed(event, wanted)), next: undefined };
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      const events = (await this.deps.events.readMany(env, ids(named))).filter((event) => isListed(event, wanted));
      return { events, next: startOf(query.timeRange), stoppedEarly: 'archive_unavailable' };
    }
  }

  async #withinRetention({ env, timeRange }: EventQuery, nowMs: number): Promise<TimeRange> {
    return { ...timeRange, after: Math.max(timeRange.after ?? 0, await this.deps.archive.events.oldest(env, nowMs)) };
  }
}

function toPage({ events, next }: EventPage): Page<FoundEvent> {
  return { items: events, next };
}
