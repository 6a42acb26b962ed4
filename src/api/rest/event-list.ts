/** Pages of events: from the indexes if these support the filters, otherwise by search. */
import type { ListedEvents } from '../../history/event-lists.ts';
import type { History } from '../../history/history.ts';
import { withinPrefix } from '../../history/search-range.ts';
import type { Searches } from '../../history/searches.ts';
import { readsOfEvent } from '../../model/search/documents.ts';
import { matcherOf } from '../../model/search/evaluate.ts';
import { allOf, beginsWith, isLike, isWildcard } from '../../model/search/filters.ts';
import type { TimeRange } from '../../store/redis/pagination.ts';
import { searchOf } from './search-query.ts';

export interface EventFilters {
  env: string;
  name?: string | undefined;
  source?: string | undefined;
  id?: string | undefined;
  id_prefix?: string | undefined;
  search?: string | undefined;
  timeRange: TimeRange;
  limit: number;
}

export async function listEvents(
  { eventLists, searches }: { eventLists: History['eventLists']; searches: Searches },
  { id, id_prefix, search, principal, ...filters }: EventFilters & { principal: string },
  nowMs: number,
): Promise<ListedEvents> {
  const { env, name, source, limit } = filters;
  const isIndexed = id_prefix === undefined && search === undefined && !(name !== undefined && isWildcard(name));
  if (isIndexed) return id === undefined ? eventLists.list(filters, nowMs) : eventLists.listById(id, filters);
  const node = allOf([
    ...(name === undefined ? [] : [isLike('name', name)]),
    ...(id_prefix === undefined ? [] : [beginsWith('internal_id', id_prefix)]),
    ...(search === undefined ? [] : [searchOf(search, 'events')]),
  ]);
  const timeRange = withinPrefix(filters.timeRange, id_prefix, false);
  if (!timeRange) return { events: [], next: undefined };
  if (id !== undefined) {
    const matches = matcherOf(node);
    const page = await eventLists.listById(id, { env, source, timeRange, limit });
    return { ...page, events: page.events.filter((event) => matches(readsOfEvent(event))) };
  }
  const { found, next, stoppedEarly } = await searches.events(
    { env, principal, node, source, timeRange, limit },
    nowMs,
  );
  return { events: found, next, stoppedEarly };
}
