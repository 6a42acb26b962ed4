/** Lists of runs across Redis and the archive. Redis has active runs of any age, so the newest runs of a page may be in either. */
import type { Archive } from '../archive/archive.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { timeOf } from '../model/ids.ts';
import { isEnding, type Run } from '../model/runs/run.ts';
import { Composed } from '../model/values/composed.ts';
import { areInBuckets } from '../store/events/event-presence.ts';
import { isOlder } from '../store/redis/pagination.ts';
import {
  pageOfRuns,
  type RunBrief,
  type RunLists,
  type RunPage,
  type RunQuery,
  runPosition,
  statusesOf,
} from '../store/runs/run-lists.ts';
import type { Store } from '../store/store.ts';
import { archiveBorder, mergedPage, type Page, startOf } from './merged-page.ts';

export type ListedRunPage = Omit<RunPage, 'stoppedEarly'> & Pick<Page<Run>, 'stoppedEarly'>;

export class RunListHistory
  extends Composed<{
    store: Pick<Store, 'redis' | 'keys' | 'runLists'>;
    archive: Archive;
    /** Whether Redis has the event and all its runs. */
    isInRedis(env: string, eventId: string): Promise<boolean>;
  }>
  implements Pick<RunLists, 'briefsByEvent' | 'readByEvent'>
{
  /** Asks the archive only if the page reaches into the range that may be archived. */
  async list(query: RunQuery): Promise<ListedRunPage> {
    const { runLists } = this.deps.store;
    const { archive } = this.deps;
    const { env, functionIds, timeRange, limit } = query;
    const statuses = statusesOf(query)?.filter(isEnding);
    // Active runs are never archived; Redis also lists offloaded runs.
    if (statuses?.length === 0) return runLists.list(query);
    const border = archiveBorder(archive, Date.now());
    const page = await mergedPage<Run>(
      {
        timeRange,
        limit,
        positionOf: runPosition,
        hot: async () => toPage(await runLists.list(query)),
        archived: async (range) => {
          const before = Math.min(range.before ?? border, border);
          const wanted = { functionIds, statuses, timeRange: { ...range, before }, limit };
          return toPage(await archive.runs.page(env, wanted));
        },
      },
      border,
    );
    return toRunPage(page.stoppedEarly === 'archive_unavailable' ? hotPart(page, query, border) : page);
  }

  /** @throws ServiceError archive_unavailable */
  async readByEvent(env: string, eventId: string): Promise<Run[]> {
    const { store, archive } = this.deps;
    const hot = await store.runLists.readByEvent(env, eventId);
    const [asked] = await this.#maybeArchived(env, [eventId]);
    if (asked === undefined) return hot;
    try {
      const [archived, offloaded] = await Promise.all([
        archive.runs.readByEvent(env, eventId),
        this.#offloadedOf(env, [eventId]),
      ]);
      return inOrder(archived, [...offloaded, ...hot]);
    } catch (error) {
      if (isArchiveUnavailable(error) && (await this.deps.isInRedis(env, eventId))) return hot;
      throw error;
    }
  }

  async listByEvent(eventId: string, query: RunQuery): Promise<ListedRunPage> {
    try {
      return pageOfRuns(await this.readByEvent(query.env, eventId), query);
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      const { runs, next } = await this.deps.store.runLists.listByEvent(eventId, query);
      const page = { items: runs, next, stoppedEarly: 'archive_unavailable' as const };
      return toRunPage(hotPart(page, query, archiveBorder(this.deps.archive, Date.now())));
    }
  }

  /** For lists of events: while the archive is down, only hot runs are returned. */
  async briefsByEvent(
    env: string,
    eventIds: readonly string[],
    whenUnavailable: 'hot' | 'throw' = 'hot',
  ): Promise<RunBrief[][]> {
    const { store, archive } = this.deps;
    const hot = await store.runLists.briefsByEvent(env, eventIds);
    const asked = await this.#maybeArchived(env, eventIds);
    if (asked.length === 0) return hot;
    const none = (error: unknown): [] => {
      if (isArchiveUnavailable(error) && whenUnavailable === 'hot') return [];
      throw error;
    };
    const [found, offloaded] = await Promise.all([
      archive.runs.briefsByEvent(env, asked).catch(none),
      this.#offloadedOf(env, asked).catch(none),
    ]);
    const archived = new Map(asked.map((id, i) => [id, found[i] ?? []]));
    return Promise.all(
      eventIds.map((id, i) => {
        const others = offloaded.filter((run) => (run.batch ?? [run.eventId]).includes(id));
        const notArchived = new Map([...others.map(briefOf), ...(hot[i] ?? [])].map((brief) => [brief.id, brief]));
        return this.#mergedBriefs(env, id, archived.get(id) ?? [], [...notArchived.values()]);
      }),
    );
  }

  /** Runs of archived events that sleep in Postgres, or did until a moment ago: nothing in Redis lists them under their events. */
  async #offloadedOf(env: string, eventIds: readonly string[]): Promise<Run[]> {
    const { store, archive } = this.deps;
    const found = await archive.offloadedRuns.ofEvents(env, eventIds);
    return store.runLists.listed.read(
      env,
      found.map(({ id }) => id),
    );
  }

  async #mergedBriefs(env: string, eventId: string, archived: RunBrief[], hot: RunBrief[]): Promise<RunBrief[]> {
    if (archived.length === 0) return hot;
    if (hot.length === 0) return archived;
    // Some have ended and some are active: rare, and briefs lack the time of creation.
    const { store, archive } = this.deps;
    const [archivedRuns, offloaded, hotRuns] = await Promise.all([
      archive.runs.readByEvent(env, eventId),
      this.#offloadedOf(env, [eventId]),
      store.runLists.readByEvent(env, eventId),
    ]);
    return inOrder(archivedRuns, [...offloaded, ...hotRuns]).map(briefOf);
  }

  /** The events whose runs may be archived: younger events, by ID and location, have none. */
  async #maybeArchived(env: string, eventIds: readonly string[]): Promise<string[]> {
    const { store, archive } = this.deps;
    const border = archiveBorder(archive, Date.now());
    const young = eventIds.filter((id) => timeOf(id) >= border);
    const inBuckets = await areInBuckets(store.redis, store.keys, env, young);
    const hot = new Set(young.filter((_, i) => inBuckets[i]));
    return eventIds.filter((id) => !hot.has(id));
  }
}

/** While the archive is unavailable: the runs that are younger than all archived runs. The other runs are on a later page. */
function hotPart({ items, next, stoppedEarly }: Page<Run>, { timeRange }: RunQuery, border: number): Page<Run> {
  const young = items.filter(({ queuedAt }) => queuedAt >= border);
  if (young.length === items.length && next && next.at >= border) return { items, next, stoppedEarly };
  const end = startOf({ before: border });
  const start = startOf(timeRange);
  return { items: young, next: isOlder(start, end) ? start : end, stoppedEarly };
}

function inOrder(archived: readonly Run[], hot: readonly Run[]): Run[] {
  const all = new Map([...archived, ...hot].map((run) => [run.id, run]));
  return [...all.values()].sort((a, b) => (isOlder(runPosition(a), runPosition(b)) ? -1 : 1));
}

function briefOf({ id, functionId, status }: Run): RunBrief {
  return { id, functionId, status };
}

function toRunPage({ items, next, stoppedEarly }: Page<Run>): ListedRunPage {
  return { runs: [...items], next, ...(stoppedEarly && { stoppedEarly }) };
}

function toPage({ runs, next, stoppedEarly }: ListedRunPage): Page<Run> {
  return { items: runs, next, stoppedEarly };
}
