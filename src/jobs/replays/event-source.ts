/** Reads the events that meet a replay's filter, newest first: from lists if they support the filter, otherwise by a search, whose conditions
 *  Postgres checks. */
import { ServiceError } from '../../errors.ts';
import type { EventSearch } from '../../history/event-search.ts';
import type { History } from '../../history/history.ts';
import type { EventFilter } from '../../model/replays/replay.ts';
import { allOf, beginsWith, isLike, isWildcard } from '../../model/search/filters.ts';
import { parseSearch } from '../../model/search/parse.ts';
import type { SearchNode } from '../../model/search/syntax.ts';
import type { EventPage } from '../../store/events/event-lists.ts';
import type { FoundEvent } from '../../store/events/events.ts';
import { isOlder, type Position, type TimeRange } from '../../store/redis/pagination.ts';

/** Maximum duration of one search; the next search continues where it stopped. */
const SEARCH_MS = 2_000;

export interface EventSourceDeps {
  eventLists: History['eventLists'];
  events: Pick<History['events'], 'readMany'>;
  search: Pick<EventSearch, 'search'>;
}

export type EventSource = (timeRange: TimeRange, limit: number) => Promise<EventPage>;

/** Its pages throw ServiceError archive_unavailable instead of omitting archived events. */
export function eventSourceOf(env: string, filter: EventFilter, deps: EventSourceDeps): EventSource {
  const { eventLists, search } = deps;
  const { name, source, ids } = filter;
  if (ids) return sourceOfNamed(env, ids, deps);
  const conditions = conditionsOf(filter);
  if (conditions.length === 0) {
    return async (timeRange, limit) => {
      const { events, next, stoppedEarly } = await eventLists.list({ env, name, source, timeRange, limit }, Date.now());
      if (stoppedEarly) throw new ServiceError('archive_unavailable');
      return { events, next };
    };
  }
  const node = allOf([...(name === undefined ? [] : [isLike('name', name)]), ...conditions]);
  return async (timeRange, limit) => {
    const query = { env, node, source, timeRange, limit, timeoutMs: SEARCH_MS };
    const { found, next, stoppedEarly } = await search.search(query, Date.now());
    if (stoppedEarly === 'archive_unavailable') throw new ServiceError('archive_unavailable');
    return { events: found, next };
  };
}

function sourceOfNamed(env: string, ids: readonly string[], { events }: EventSourceDeps): EventSource {
  return async ({ after = 0, before = Number.POSITIVE_INFINITY, cursor }, limit) => {
    const found = (await events.readMany(env, ids))
      .filter(
        ({ received_at: at, internal_id: id }) =>
          at >= after && at < before && (!cursor || isOlder({ at, id }, cursor)),
      )
      .sort((a, b) => (isOlder(positionOf(a), positionOf(b)) ? 1 : -1));
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return { events: page, next: last && positionOf(last) };
  };
}

function positionOf({ received_at: at, internal_id: id }: FoundEvent): Position {
  return { at, id };
}

/** Conditions that no list can filter by; for a wildcard, also the name. */
function conditionsOf({ name, search, idPrefix }: EventFilter): SearchNode[] {
  return [
    ...(name !== undefined && isWildcard(name) ? [isLike('name', name)] : []),
    ...(search === undefined ? [] : [parseSearch(search, 'events')]),
    ...(idPrefix === undefined ? [] : [beginsWith('internal_id', idPrefix)]),
  ];
}
