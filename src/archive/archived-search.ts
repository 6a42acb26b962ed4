/** Pages of archived events and runs that a search may find: callers must test each exactly (search-conditions.ts). */
import { requiredBy } from '../model/search/narrowing.ts';
import { EVENT_PREFIX, type SearchNode, variablesOf } from '../model/search/syntax.ts';
import { Composed } from '../model/values/composed.ts';
import { DAY_MS } from '../model/values/time.ts';
import { isOlder, type Position, type TimeRange } from '../store/redis/pagination.ts';
import type { Archive } from './archive.ts';
import type { ArchivedRunPage, ArchivedRunQuery } from './archived-runs.ts';
import { Conditions } from './conditions.ts';
import { codeOf } from './database.ts';
import { type ArchivedEventPage, FIRST_ID } from './event-pages.ts';
import { isPlainText, type Sql } from './json-predicates.ts';
import { eventConditions, runConditions, type SearchNumbers, textsIn } from './search-conditions.ts';

interface SearchRange {
  /** With a cursor. */
  timeRange: TimeRange & { cursor: Position };
  timeoutMs: number;
}

export interface ArchivedEventSearch extends SearchRange {
  node: SearchNode;
  source: string | undefined;
}

export interface ArchivedRunSearch extends SearchRange, Pick<ArchivedRunQuery, 'functionIds' | 'statuses'> {
  node: SearchNode;
}

/** Rows per page. */
const PAGE = 100;
/** Rows read per page if Postgres cannot test them in time. */
const PLAIN_PAGE = 200;
const PLAIN_TIMEOUT_MS = 2_000;
/** Maximum number of names whose indexes are read. The maximum is higher if names are the only condition, because then several indexes must be
 *  merged. */
const NAMES_MAX = 200;
const FEW_NAMES = 3;
/** SQLSTATE classes of values that Postgres cannot process, and of its limits. */
const REFUSED = /^(22|54)/;

export class ArchivedSearch extends Composed<Pick<Archive, 'database' | 'numbers' | 'events' | 'runs'>> {
  /** The next events: at least one if there is any, however short the time.
   *  @throws ServiceError archive_unavailable */
  async events(env: string, search: ArchivedEventSearch, nowMs: number): Promise<ArchivedEventPage> {
    const { node, source, timeRange, timeoutMs } = search;
    const numbers = await this.#numbersOf(env, node, 'name');
    if (!numbers) return { events: [], next: undefined };
    const names = await this.#names(node, numbers.envId);
    const page = (conditions: Conditions | undefined, limit: number, time: number) => {
      return this.deps.events.page(env, { names, source, conditions, timeRange, limit, timeoutMs: time }, nowMs);
    };
    const conditions = conditionsOf(eventConditions(node, numbers));
    return within(
      timeRange.cursor,
      () => page(conditions, PAGE, timeoutMs),
      () => page(undefined, PLAIN_PAGE, PLAIN_TIMEOUT_MS),
    );
  }

  /** Like `events`, for runs. */
  async runs(env: string, search: ArchivedRunSearch, nowMs: number): Promise<ArchivedRunPage> {
    const { node, functionIds, statuses, timeRange, timeoutMs } = search;
    const numbers = await this.#numbersOf(env, node, 'function_id', `${EVENT_PREFIX}name`);
    if (!numbers) return { runs: [], next: undefined };
    const oldest = Math.max(timeRange.after ?? 0, await this.deps.events.oldest(env, nowMs));
    const readsEvents = [...variablesOf(node)].some((name) => name.startsWith(EVENT_PREFIX));
    const before = Math.min(timeRange.before ?? Number.MAX_SAFE_INTEGER, timeRange.cursor.at + 1);
    // Reads day by day, so that Postgres searches few tables for the events of the runs.
    const after = readsEvents ? Math.max(oldest, before - DAY_MS) : oldest;
    const page = (conditions: Conditions | undefined, limit: number, time: number) => {
      const range = { ...timeRange, after };
      return this.deps.runs.page(env, {
        functionIds,
        statuses,
        conditions,
        timeRange: range,
        limit,
        timeoutMs: time,
      });
    };
    const conditions = conditionsOf(runConditions(node, numbers, { after, before }));
    const found = await within(
      timeRange.cursor,
      () => page(conditions, PAGE, timeoutMs),
      () => page(undefined, PLAIN_PAGE, PLAIN_TIMEOUT_MS),
    );
    return found.next || after <= oldest ? found : { ...found, next: { at: after, id: FIRST_ID } };
  }

  /** undefined if nothing of the environment is archived. */
  async #numbersOf(env: string, node: SearchNode, ...variables: string[]): Promise<SearchNumbers | undefined> {
    const { numbers } = this.deps;
    const envId = await numbers.environment(env);
    if (envId === undefined) return undefined;
    const ofTable = (table: 'event_names' | 'functions', isOf: (variable: string) => boolean) => {
      return numbers.ofMany(
        table,
        envId,
        variables.filter(isOf).flatMap((variable) => textsIn(node, variable)),
      );
    };
    const isFunction = (variable: string) => variable === 'function_id';
    const [names, functions] = await Promise.all([
      ofTable('event_names', (variable) => !isFunction(variable)),
      ofTable('functions', isFunction),
    ]);
    return { envId, names, functions };
  }

  /** The names that the search requires, if they are few enough to read their indexes. */
  async #names(node: SearchNode, envId: number): Promise<readonly string[] | undefined> {
    const isDecisive = [...variablesOf(node)].every((variable) => variable === 'name' || variable === 'received_at');
    const max = isDecisive ? NAMES_MAX : FEW_NAMES;
    for (const part of requiredBy(node)) {
      if (!('path' in part) || part.path.variable !== 'name') continue;
      const texts =
        part.kind === 'in' || (part.kind === 'compare' && part.comparison === '==') ? textsIn(part, 'name') : undefined;
      if (texts) return texts.length <= max ? texts : undefined;
      if (part.kind !== 'text' || part.test !== 'startsWith' || !isPlainText(part.text)) continue;
      const rows = await this.deps.database.query<{ name: string }>(
        'SELECT name FROM event_names WHERE env_id = $1 AND starts_with(name, $2) LIMIT $3',
        [envId, part.text, max + 1],
      );
      // Names with this character may share a number with others (database.ts).
      const isExact = rows.every(({ name }) => !name.includes('\uFFFD'));
      if (isExact && rows.length <= max) return rows.map(({ name }) => name);
    }
    return undefined;
  }
}

function conditionsOf(sql: Sql | undefined): Conditions | undefined {
  return sql && new Conditions().add(sql.text, ...sql.values);
}

/** Reads without conditions if Postgres cannot evaluate them, or not in time. */
async function within<P extends { next: Position | undefined; stoppedEarly?: 'time' }>(
  cursor: Position,
  read: () => Promise<P>,
  readPlain: () => Promise<P>,
): Promise<P> {
  try {
    const page = await read();
    const isStuck = page.stoppedEarly && page.next && !isOlder(page.next, cursor);
    return isStuck ? await readPlain() : page;
  } catch (error) {
    if (!REFUSED.test(codeOf(error) ?? '')) throw error;
    return readPlain();
  }
}
