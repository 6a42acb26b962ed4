/** The request log of webhooks, hot and archived. Redis has all requests above the highest ID that left it; below, it may still have some
 *  that were logged late. */
import type { ArchivedRequests } from '../archive/archived-requests.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { Composed } from '../model/values/composed.ts';
import type {
  LogCounts,
  LoggedRequest,
  LogPage,
  LogQuery,
  LogStats,
  LogSummary,
} from '../model/webhooks/request-log.ts';
import type { Store } from '../store/store.ts';

/** Above every ID. */
const TOP = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

export class WebhookLogHistory extends Composed<{
  hot: Store['webhookLog'];
  unarchived: Store['unarchivedRequests'];
  archived: ArchivedRequests;
}> {
  get maxRequests(): number {
    return this.deps.hot.maxRequests;
  }

  /** Newest first. */
  async list(webhookId: string, query: LogQuery, nowMs: number): Promise<LogPage> {
    // Redis is read first: a request that leaves it afterwards is in the archive when the archive is read.
    const hot = await this.deps.hot.list(webhookId, query, nowMs);
    const dropped = await this.deps.unarchived.highestDropped(webhookId);
    if (hot.next !== undefined && (dropped === undefined || hot.next > dropped)) return hot;
    try {
      const archived = await this.deps.archived.list(webhookId, query);
      return merged(hot, archived, query.limit, (a, b) => ascending(b, a));
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      const requests = hot.requests.filter(({ id }) => dropped === undefined || id > dropped);
      return { requests, next: requests.at(-1)?.id ?? query.cursor ?? TOP, stoppedEarly: 'archive_unavailable' };
    }
  }

  /** Oldest first. @throws ServiceError archive_unavailable */
  async listOldest(webhookId: string, query: LogQuery, nowMs: number): Promise<LogPage> {
    const hot = await this.deps.hot.listOldest(webhookId, query, nowMs);
    const archived = await this.deps.archived.listOldest(webhookId, query);
    return merged(hot, archived, query.limit, ascending);
  }

  /** @throws ServiceError archive_unavailable */
  async read(webhookId: string, requestId: string): Promise<LoggedRequest | undefined> {
    const hot = await this.deps.hot.read(webhookId, requestId);
    if (hot || (await this.deps.unarchived.isRemoved(webhookId))) return hot;
    return this.deps.archived.read(webhookId, requestId);
  }

  /** Hot requests only, if the archive is down. */
  async stats(webhookIds: readonly string[], nowMs: number): Promise<LogCounts> {
    const hot = await this.deps.hot.stats(webhookIds, nowMs);
    const unarchived = await this.deps.unarchived.counts(webhookIds);
    try {
      const archived = await this.deps.archived.stats(webhookIds);
      return {
        stats: archived.map((ofWebhook, i) => ({
          ...sumOf(ofWebhook, unarchived[i]),
          lastAt: Math.max(ofWebhook.lastAt ?? 0, hot.stats[i]?.lastAt ?? 0) || undefined,
        })),
      };
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      return { ...hot, stoppedEarly: 'archive_unavailable' };
    }
  }

  /** Hides the archived requests of a deleted webhook. */
  async remove(webhookId: string): Promise<void> {
    await this.deps.unarchived.noteRemoval(webhookId, Date.now());
    await this.deps.hot.remove(webhookId);
  }
}

type Counts = Omit<LogStats, 'lastAt'>;

function sumOf(a: Counts, b: Counts | undefined): Counts {
  return {
    requests: a.requests + (b?.requests ?? 0),
    rejected: a.rejected + (b?.rejected ?? 0),
    filtered: a.filtered + (b?.filtered ?? 0),
    unverified: a.unverified + (b?.unverified ?? 0),
  };
}

function ascending(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Requests of Redis and archive, each once, up to the point where one of the two ends early. */
function merged(
  hot: LogPage,
  archived: { requests: readonly LogSummary[]; isFull: boolean },
  limit: number,
  order: (a: string, b: string) => number,
): LogPage {
  const ends = [hot.next, archived.isFull ? archived.requests.at(-1)?.id : undefined].filter((id) => id !== undefined);
  const end = ends.sort(order)[0];
  const byId = new Map([...archived.requests, ...hot.requests].map((summary) => [summary.id, summary]));
  const all = [...byId.values()].sort((a, b) => order(a.id, b.id));
  const within = end === undefined ? all : all.filter(({ id }) => order(id, end) <= 0);
  const requests = within.slice(0, limit);
  const next = requests.length === limit && within.length > limit ? requests.at(-1)?.id : end;
  const isCut = requests.length < limit && hot.stoppedEarly !== undefined && next === hot.next;
  return { requests, next, ...(isCut && { stoppedEarly: hot.stoppedEarly }) };
}
