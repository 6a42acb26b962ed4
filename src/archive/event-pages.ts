/** Pages of archived events, newest first by receipt and ID. Events are found by indexes: by environment, by name, and by time. Other
 *  conditions are checked in windows of events, one statement each, until the page is full or the time limit is reached. */
import type { Position, TimeRange } from '../store/redis/pagination.ts';
import type { ArchivedDays } from './archived-days.ts';
import { Conditions } from './conditions.ts';
import { codeOf, fromUuid, QUERY_CANCELED, Repository, toUuid } from './database.ts';
import { type DayBatch, dayBatches, daysOf, END_OF_TIME } from './day-batches.ts';
import { type ArchivedEvent, eventsOf, inDays, newestEvents, withinBytes } from './event-row-reads.ts';

export interface EventPageQuery {
  envId: number;
  /** Numbers of names; undefined: all names. */
  names: readonly number[] | undefined;
  /** Conditions on columns of the table `events`; undefined: none. */
  conditions: Conditions | undefined;
  timeRange: TimeRange & { after: number };
  limit: number;
  timeoutMs: number;
  /** Bytes of payloads. */
  maxBytes: number;
}

export interface ArchivedEventPage {
  events: ArchivedEvent[];
  /** How far events were examined: more may follow, even if the page is short. undefined at the end. */
  next: Position | undefined;
  /** Set if the time limit was reached before the page was full. */
  stoppedEarly?: 'time';
}

export const FIRST_ID = '0'.repeat(26);
const FIRST_WINDOW = 200;
const WINDOW_MAX = 400_000;
const WINDOW_GROWTH = 8;
/** A window that takes longer is not extended. */
const WINDOW_MS = 400;

/** State that the steps of one page share. */
interface Search extends EventPageQuery {
  deadline: number;
  found: ArchivedEvent[];
  bytesLeft: number;
  /** Everything newer has been examined. */
  position: Position | undefined;
  window: number;
}

export class EventPages extends Repository<{ days: ArchivedDays }> {
  async read(query: EventPageQuery): Promise<ArchivedEventPage> {
    const { envId, timeRange } = query;
    const { after, before = END_OF_TIME, cursor } = timeRange;
    const range = { from: after, to: Math.min(before, END_OF_TIME, (cursor?.at ?? END_OF_TIME) + 1) };
    if (range.from >= range.to) return { events: [], next: undefined };
    const days = await this.deps.days.between(envId, 'events', ...daysOf(range));
    const search: Search = {
      ...query,
      deadline: performance.now() + query.timeoutMs,
      found: [],
      bytesLeft: query.maxBytes,
      position: cursor,
      window: FIRST_WINDOW,
    };
    for (const batch of dayBatches(days, range)) {
      const end = await (query.conditions ? this.#inWindows(search, batch) : this.#select(search, batch));
      if (end !== 'exhausted') {
        const next = search.position ?? { at: range.to, id: FIRST_ID };
        return { events: search.found, next, ...(end === 'time' && { stoppedEarly: 'time' }) };
      }
    }
    return { events: search.found, next: undefined };
  }

  async #select(search: Search, batch: DayBatch, end?: Position): Promise<'full' | 'time' | 'exhausted'> {
    const { found, limit, names, position } = search;
    const wanted = limit - found.length;
    const conditions = search.conditions?.copy() ?? new Conditions();
    addRange(conditions, search, batch);
    if (end) conditions.add('at >= ? AND (at, id) >= (?, ?)', end.at, end.at, toUuid(end.id));
    const text = withinBytes(newestEvents(conditions, { names, limit: wanted }), conditions, search.bytesLeft);
    const rows = await this.#within(search, text, conditions);
    if (rows === 'time') return 'time';
    const events = eventsOf(rows);
    for (const event of events) search.bytesLeft -= event.payload.length;
    found.push(...events);
    const last = events.at(-1);
    search.position = last ? { at: last.receivedAt, id: last.internalId } : position;
    if (events.length < rows.length || rows.length === wanted) return 'full';
    search.position = end ?? { at: batch.from, id: FIRST_ID };
    return 'exhausted';
  }

  async #inWindows(search: Search, batch: DayBatch): Promise<'full' | 'time' | 'exhausted'> {
    for (;;) {
      const startedAt = performance.now();
      if (startedAt > search.deadline) return 'time';
      const end = await this.#windowEnd(search, batch);
      if (end === 'time') return 'time';
      const result = await this.#select(search, batch, end);
      if (result !== 'exhausted' || !end) return result;
      if (performance.now() - startedAt < WINDOW_MS)
        search.window = Math.min(search.window * WINDOW_GROWTH, WINDOW_MAX);
    }
  }

  /** Last position of the next window, found by an index alone; undefined if the window has all remaining events of these days. */
  async #windowEnd(search: Search, batch: DayBatch): Promise<Position | 'time' | undefined> {
    const conditions = new Conditions();
    addRange(conditions, search, batch);
    const selection = newestEvents(conditions, { names: search.names, limit: search.window, columns: 'at, id' });
    const last = `ORDER BY at DESC, id DESC OFFSET ${conditions.value(search.window - 1)} LIMIT 1`;
    const rows = await this.#within(search, `SELECT at, id FROM (${selection}) w ${last}`, conditions);
    if (rows === 'time') return 'time';
    const [end] = rows as { at: number; id: string }[];
    return end ? { at: end.at, id: fromUuid(end.id) } : undefined;
  }

  /** Runs a statement, with a time limit if it has conditions: reading a few index entries costs less than a transaction with its own
   *  limit. */
  async #within({ conditions, deadline }: Search, text: string, { values }: Conditions) {
    try {
      if (!conditions) return await this.database.query(text, values);
      return await this.database.queryWithin(deadline - performance.now(), text, values);
    } catch (error) {
      if (codeOf(error) === QUERY_CANCELED) return 'time';
      throw error;
    }
  }
}

/** The part of the days that has not been examined. Names have an index of their own. */
function addRange(conditions: Conditions, { envId, names, position }: Search, batch: DayBatch): void {
  if (names === undefined) conditions.add('env_id = ?', envId);
  inDays(conditions, position ? { ...batch, to: Math.min(batch.to, position.at + 1) } : batch);
  if (position) conditions.add('(at, id) < (?, ?)', position.at, toUuid(position.id));
}
