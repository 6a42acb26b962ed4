/** Stored events, newest first, by name, source, time and ID. */
import { isFrom } from '../../model/events/event.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import { isOlder, newest, type Position, type TimeRange } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';
import type { EventRecords } from './event-records.ts';
import type { Events, FoundEvent } from './events.ts';
import type { EventsByMinute } from './events-by-minute.ts';

export interface EventQuery {
  env: string;
  name?: string | undefined;
  /** Any of these names, instead of `name`. */
  names?: readonly string[] | undefined;
  /** A source, or a kind of source: `webhook`. */
  source?: string | undefined;
  /** Time range of receipt. */
  timeRange: TimeRange;
  limit: number;
}

export interface EventPage {
  events: FoundEvent[];
  /** Cursor of the next page; undefined on the last page. */
  next: Position | undefined;
}

/** Begins no earlier than the retention. */
type ListedTimeRange = TimeRange & { after: number };

interface Listing extends Pick<EventQuery, 'env' | 'names' | 'limit'> {
  timeRange: ListedTimeRange;
}

/** Events per read, and reads per page, when filtering by source: no index has it, so records are read. */
const READ_AT_ONCE = 500;
const MAX_READS = 20;
/** Maximum characters of a page's events: web parses and serializes them on its only thread. */
const PAGE_SIZE = 2 * 1_048_576;

export class EventLists extends Repository<
  Redis,
  { events: Events; records: EventRecords; eventsByMinute: EventsByMinute; retentionMs: number }
> {
  /** Events by time of receipt, then by ID; pages are stable while new events arrive. With a source or with large events, a page may be
   *  short and still have a next page. */
  async list(
    { env, name, names = name === undefined ? undefined : [name], source, timeRange, limit }: EventQuery,
    nowMs: number,
  ): Promise<EventPage> {
    const range = { ...timeRange, after: Math.max(timeRange.after ?? 0, nowMs - this.deps.retentionMs) };
    const wanted = { env, names, timeRange: range, limit };
    const { found, next } = await (source === undefined ? this.#page(wanted) : this.#pageFrom(source, wanted));
    const { events, read } = await this.deps.events.readWithin(env, idsOf(found), PAGE_SIZE);
    return { events, next: read < found.length ? found[read - 1] : next };
  }

  /** Events with this internal ID or deduplication ID; of the latter, the newest. */
  async listById(id: string, query: EventQuery): Promise<EventPage> {
    const { env } = query;
    const named = await this.newestNamed(env, id);
    const ids = [...new Set(named === undefined ? [id] : [id, named])];
    const events = (await this.deps.events.readMany(env, ids)).filter((event) => isListed(event, query));
    return { events, next: undefined };
  }

  /** Internal ID of the newest event with this deduplication ID. */
  async newestNamed(env: string, id: string): Promise<string | undefined> {
    // The claim is usually in the partition of the deduplication ID, but in another one if the event already had its internal ID.
    const commands = this.keys.all().map((keys) => ['get', keys.eventById(env, id)]);
    const named = (await inPipelines<string | null>(this.redis, commands)).flatMap((found) => found ?? []);
    return named.sort().at(-1);
  }

  async #page(wanted: Listing): Promise<{ found: Position[]; next: Position | undefined }> {
    const found = await this.#newest(wanted);
    return { found, next: found.length === wanted.limit ? found.at(-1) : undefined };
  }

  async #pageFrom(source: string, { env, names, timeRange, limit }: Listing) {
    const found: Position[] = [];
    let cursor = timeRange.cursor;
    for (let reading = 0; reading < MAX_READS; reading++) {
      const read = await this.#newest({ env, names, timeRange: { ...timeRange, cursor }, limit: READ_AT_ONCE });
      const sources = await this.deps.records.readSources(env, idsOf(read));
      found.push(...read.filter((_, i) => isFromSource(sources[i], source)));
      const isEnd = read.length < READ_AT_ONCE;
      if (found.length > limit || (found.length === limit && !isEnd)) {
        const page = found.slice(0, limit);
        return { found: page, next: page.at(-1) };
      }
      if (isEnd) return { found, next: undefined };
      cursor = read.at(-1);
    }
    return { found, next: cursor };
  }

  async #newest({ env, names, timeRange, limit }: Listing): Promise<Position[]> {
    if (names === undefined) return this.#newestOfAll(env, timeRange, limit);
    return newest(
      this.redis,
      this.keys.all().flatMap((keys) => names.map((name) => keys.eventIndex(env, name))),
      timeRange,
      limit,
    );
  }

  /** Counts by minute tell which indexes to read, and how far back. They are too high where the time range cuts a minute: then older
   *  minutes are read as well. */
  async #newestOfAll(env: string, { after, before, cursor }: ListedTimeRange, limit: number): Promise<Position[]> {
    const found: Position[] = [];
    let rest: ListedTimeRange = { after, before, cursor };
    while (found.length < limit) {
      const top = rest.cursor?.at ?? (rest.before === undefined ? '+inf' : rest.before - 1);
      const minutes = await this.deps.eventsByMinute.before(env, top, after, limit - found.length);
      if (!minutes) break;
      const indexes = this.keys.all().flatMap((keys) => minutes.names.map((name) => keys.eventIndex(env, name)));
      const timeRange = { ...rest, after: Math.max(after, minutes.from) };
      found.push(...(await newest(this.redis, indexes, timeRange, limit - found.length)));
      rest = { after, before: minutes.from, cursor: undefined };
    }
    return found;
  }
}

/** Whether the event belongs to the list of the query. */
export function isListed(event: FoundEvent, { name, source, timeRange }: Omit<EventQuery, 'env' | 'limit'>): boolean {
  const { after = 0, before = Number.POSITIVE_INFINITY, cursor } = timeRange;
  const at = event.received_at;
  const isNext = !cursor || isOlder({ at, id: event.internal_id }, cursor);
  return (
    isNext && at >= after && at < before && (name ?? event.name) === event.name && isFromSource(event.source, source)
  );
}

function idsOf(positions: readonly Position[]): string[] {
  return positions.map(({ id }) => id);
}

function isFromSource(source: string | undefined, wanted: string | undefined): boolean {
  return wanted === undefined || (source !== undefined && isFrom(source, wanted));
}
