/** Archived events, by ID and in pages, within the retention of the environment. */
import { isFrom, type Source, sourceFilter } from '../model/events/event.ts';
import { ID_PATTERN, timeOf } from '../model/ids.ts';
import { DAY_MS } from '../model/values/time.ts';
import type { TimeRange } from '../store/redis/pagination.ts';
import { type ArchivedDays, dayOf } from './archived-days.ts';
import { Conditions } from './conditions.ts';
import { fromUuid, Repository, toText, toUuid } from './database.ts';
import { dayBatches, daysOf, END_OF_TIME } from './day-batches.ts';
import { type ArchivedEventPage, EventPages } from './event-pages.ts';
import { type ArchivedEvent, eventsOf, inDays, sentOf, whole } from './event-row-reads.ts';
import type { Numbers } from './numbers.ts';
import type { RetentionOf } from './shipments.ts';

export interface ArchivedEventQuery {
  /** Any of these; undefined: all. */
  names?: readonly string[] | undefined;
  /** A source, or a kind of source: `webhook`. */
  source?: string | undefined;
  /** Conditions on columns of the table `events`. */
  conditions?: Conditions | undefined;
  timeRange: TimeRange;
  limit: number;
  /** Default: 5 s. */
  timeoutMs?: number;
  /** Bytes of payloads; default: like a page of the store. */
  maxBytes?: number;
}

const TIMEOUT_MS = 5_000;
const PAGE_BYTES = 2 * 1_048_576;
/** Maximum number of names that are looked up in the index one by one. More names become a condition. */
const NAMES_MAX = 200;
const NONE: ArchivedEventPage = { events: [], next: undefined };

export class ArchivedEvents extends Repository<{ numbers: Numbers; days: ArchivedDays; retentionOf: RetentionOf }> {
  readonly #pages = new EventPages(this.database, { days: this.deps.days });

  /** Start of the retention: older events are hidden. */
  async oldest(env: string, nowMs: number): Promise<number> {
    return nowMs - (await this.deps.retentionOf(env)) * DAY_MS;
  }

  /** A page of events that meet the query, and how far it examined them.
   *  @throws ServiceError archive_unavailable */
  async page(env: string, query: ArchivedEventQuery, nowMs: number): Promise<ArchivedEventPage> {
    const { names, source, timeRange, limit, timeoutMs = TIMEOUT_MS, maxBytes = PAGE_BYTES } = query;
    const envId = await this.deps.numbers.environment(env);
    if (envId === undefined) return NONE;
    const conditions = query.conditions?.copy() ?? new Conditions();
    if (source !== undefined) await this.#addSource(conditions, envId, source);
    let ids: number[] | undefined;
    if (names) {
      ids = [...new Set((await this.deps.numbers.ofMany('event_names', envId, names)).values())];
      if (ids.length === 0) return NONE;
    }
    if (ids && ids.length > NAMES_MAX) {
      conditions.add('name_id = ANY(?)', ids);
      ids = undefined;
    }
    const after = Math.max(timeRange.after ?? 0, await this.oldest(env, nowMs));
    const page = await this.#pages.read({
      envId,
      names: ids,
      conditions: conditions.isEmpty ? undefined : conditions,
      timeRange: { ...timeRange, after },
      limit,
      timeoutMs,
      maxBytes,
    });
    if (!names?.some(isInexact)) return page;
    return { ...page, events: page.events.filter((event) => names.includes(sentOf(event).name)) };
  }

  /** The result is keyed by ID; unarchived events are absent.
   *  @throws ServiceError archive_unavailable */
  async readMany(env: string, wanted: readonly string[], nowMs: number): Promise<Map<string, ArchivedEvent>> {
    return this.#find(env, wanted, nowMs, async (inTables) => {
      const rows = await this.database.query(whole(inTables), inTables.values);
      return eventsOf(rows).map((event) => [event.internalId, event]);
    });
  }

  /** IDs of the events that are archived.
   *  @throws ServiceError archive_unavailable */
  async present(env: string, wanted: readonly string[], nowMs: number): Promise<Set<string>> {
    const found = await this.#find(env, wanted, nowMs, async (inTables) => {
      const text = `SELECT id FROM events WHERE ${inTables.sql}`;
      const rows = await this.database.query<{ id: string }>(text, inTables.values);
      return rows.map(({ id }) => [fromUuid(id), true]);
    });
    return new Set(found.keys());
  }

  /** @param select rows of the table `events`, by their IDs */
  async #find<T>(
    env: string,
    wanted: readonly string[],
    nowMs: number,
    select: (inTables: Conditions) => Promise<[id: string, T][]>,
  ): Promise<Map<string, T>> {
    const found = new Map<string, T>();
    const ids = wanted.filter((id) => ID_PATTERN.test(id));
    const envId = ids.length === 0 ? undefined : await this.deps.numbers.environment(env);
    if (envId === undefined) return found;
    const oldest = await this.oldest(env, nowMs);
    const read = async (some: readonly string[], inTables: Conditions) => {
      if (some.length === 0) return;
      inTables.add('env_id = ? AND id = ANY(?) AND at >= ?', envId, some.map(toUuid), oldest);
      for (const [id, row] of await select(inTables)) found.set(id, row);
    };
    // Most events were received on the day of their ID.
    const byDay = Map.groupBy(ids, (id) => dayOf(timeOf(id)));
    await Promise.all(
      [...byDay].map(([day, some]) => {
        return read(some, new Conditions().add('at >= ? AND at < ?', day - DAY_MS, day + 2 * DAY_MS));
      }),
    );
    const range = { from: oldest, to: END_OF_TIME };
    const missing = () => ids.filter((id) => !found.has(id));
    if (missing().length === 0) return found;
    for (const batch of dayBatches(await this.deps.days.between(envId, 'events', ...daysOf(range)), range)) {
      await read(missing(), inDays(new Conditions(), batch));
    }
    return found;
  }

  /** The newest event with a deduplication ID.
   *  @throws ServiceError archive_unavailable */
  async byDeduplicationId(env: string, dedupId: string, nowMs: number): Promise<ArchivedEvent | undefined> {
    const envId = await this.deps.numbers.environment(env);
    if (envId === undefined) return undefined;
    const range = { from: await this.oldest(env, nowMs), to: END_OF_TIME };
    for (const batch of dayBatches(await this.deps.days.between(envId, 'events', ...daysOf(range)), range)) {
      const conditions = inDays(new Conditions(), batch).add('dedup_id = ? AND env_id = ?', toText(dedupId), envId);
      const text = `${whole(conditions)} ORDER BY t.at DESC, t.id DESC LIMIT 10`;
      const events = eventsOf(await this.database.query(text, conditions.values));
      const exact = events.find((event) => sentOf(event).id === dedupId);
      if (exact) return exact;
    }
    return undefined;
  }

  /** The decisions about an event, in Redis's format (model/flow-control/decision-encoding.ts). */
  async decisionsOf(env: string, id: string, nowMs: number): Promise<Buffer | undefined> {
    const event = (await this.readMany(env, [id], nowMs)).get(id);
    if (!event) return undefined;
    const text = 'SELECT decisions FROM events WHERE at = $1 AND id = $2';
    const [row] = await this.database.query<{ decisions: Buffer | null }>(text, [event.receivedAt, toUuid(id)]);
    return row?.decisions ?? undefined;
  }

  /** Filters by number for numbered sources; others are stored with their events. */
  async #addSource(conditions: Conditions, envId: number, filter: string): Promise<void> {
    const { wanted, isOthers } = sourceFilter(filter);
    const text = 'SELECT id, source FROM event_sources WHERE env_id = $1 AND starts_with(source, $2)';
    const rows = await this.database.query<{ id: number; source: Source }>(text, [envId, toText(wanted)]);
    const numbers = rows.filter(({ source }) => isFrom(source, wanted)).map(({ id }) => id);
    const own = toText(wanted);
    // One of the two is null in each event.
    const matches = 'coalesce(source_id = ANY(?), false) OR coalesce(source = ? OR starts_with(source, ?), false)';
    conditions.add(isOthers ? `NOT (${matches})` : matches, numbers, own, `${own}:`);
  }
}

/** Whether other names share the number of this name. */
function isInexact(name: string): boolean {
  return name.includes('\uFFFD') || toText(name) !== name;
}
