/** Searches events by content and other conditions, hot and archived, newest first. */
import type { Archive } from '../archive/archive.ts';
import { ArchivedSearch } from '../archive/archived-search.ts';
import { foundEventOf } from '../archive/event-row-reads.ts';
import { readsOfEvent } from '../model/search/documents.ts';
import { matcherOf } from '../model/search/evaluate.ts';
import { requiredBy, requiredTimes } from '../model/search/narrowing.ts';
import type { SearchNode } from '../model/search/syntax.ts';
import { Composed } from '../model/values/composed.ts';
import type { FoundEvent } from '../store/events/events.ts';
import type { Position, TimeRange } from '../store/redis/pagination.ts';
import type { Store } from '../store/store.ts';
import { matching } from './matching.ts';
import { archiveBorder } from './merged-page.ts';
import { mergedSearch, type SearchPage, type SearchSource } from './search-merge.ts';
import { narrowed } from './search-range.ts';

export interface EventSearchQuery {
  env: string;
  node: SearchNode;
  /** A source, or a kind of source: `webhook`. */
  source?: string | undefined;
  /** Time range of receipt. */
  timeRange: TimeRange;
  limit: number;
  timeoutMs: number;
}

export interface EventSearchDeps {
  /** Lists of Redis only. */
  eventLists: Pick<Store['eventLists'], 'list'>;
  eventCounts: Pick<Store['eventCounts'], 'names'>;
  archive: Archive | undefined;
}

/** Events per read of Redis. */
const READ_AT_ONCE = 200;
/** Maximum number of names whose indexes are read; otherwise the list of all events is. */
const NAMES_MAX = 200;
const KNOWN_NAMES_MAX = 1_000;

export class EventSearch extends Composed<EventSearchDeps> {
  readonly #archived = this.deps.archive && new ArchivedSearch(this.deps.archive);

  async search(query: EventSearchQuery, nowMs: number): Promise<SearchPage<FoundEvent>> {
    const { node, limit, timeoutMs } = query;
    const timeRange = narrowed(query.timeRange, requiredTimes(node, 'received_at'));
    if (!timeRange) return { found: [], next: undefined };
    const matches = matcherOf(node);
    const test = (events: readonly FoundEvent[]) => matching(events, matches, readsOfEvent);
    const { archive } = this.deps;
    return mergedSearch({
      hot: this.#hot(query, test, nowMs),
      archive: this.#archived && archivedEvents(this.#archived, query, test, nowMs),
      positionOf: ({ received_at, internal_id }): Position => ({ at: received_at, id: internal_id }),
      sizeOf: ({ data }) => JSON.stringify(data).length,
      timeRange,
      limit,
      archiveBorder: archive ? archiveBorder(archive, nowMs) : nowMs,
      timeoutMs,
    });
  }

  #hot(
    { env, node, source }: EventSearchQuery,
    test: (events: readonly FoundEvent[]) => Promise<FoundEvent[]>,
    nowMs: number,
  ): SearchSource<FoundEvent> {
    const { eventLists, eventCounts } = this.deps;
    let names: Promise<readonly string[] | undefined> | undefined;
    return {
      async read(timeRange) {
        names ??= hotNames(node, async () => (await eventCounts.names(env, KNOWN_NAMES_MAX, nowMs)).names);
        const query = { env, names: await names, source, timeRange, limit: READ_AT_ONCE };
        const { events, next } = await eventLists.list(query, nowMs);
        return { found: await test(events), next };
      },
    };
  }
}

function archivedEvents(
  archived: ArchivedSearch,
  { env, node, source }: EventSearchQuery,
  test: (events: readonly FoundEvent[]) => Promise<FoundEvent[]>,
  nowMs: number,
): SearchSource<FoundEvent> {
  return {
    async read({ cursor, ...timeRange }, timeLeftMs) {
      const search = { node, source, timeRange: { ...timeRange, cursor: cursor as Position }, timeoutMs: timeLeftMs };
      const { events, next } = await archived.events(env, search, nowMs);
      return { found: await test(events.map(foundEventOf)), next };
    },
  };
}

/** The names that the search requires, if they are few. */
async function hotNames(
  node: SearchNode,
  known: () => Promise<readonly { name: string }[]>,
): Promise<readonly string[] | undefined> {
  for (const part of requiredBy(node)) {
    if (!('path' in part) || part.path.variable !== 'name') continue;
    if (part.kind === 'compare' && part.comparison === '==')
      return typeof part.literal === 'string' ? [part.literal] : [];
    if (part.kind === 'in') return part.literals.filter((literal) => typeof literal === 'string');
    // Names in Redis contain no lone surrogates.
    if (part.kind !== 'text' || part.ignoreCase || !part.text.isWellFormed()) continue;
    const all = await known();
    if (all.length === KNOWN_NAMES_MAX) continue;
    const matches = matcherOf(part);
    const names = all.map(({ name }) => name).filter((name) => matches(() => name));
    if (names.length <= NAMES_MAX) return names;
  }
  return undefined;
}
