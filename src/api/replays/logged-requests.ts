/** The requests of a replay, from the request log. */
import type { History } from '../../history/history.ts';
import type { LogPage, LogSummary } from '../../model/webhooks/request-log.ts';
import type { WebhookReplayDefinition } from '../../store/webhooks/webhook-replay.ts';

const PAGE = 500;
/** Counting stops at this number. */
const COUNTED_MAX = 50_000;
const COUNT_MS = 3_000;

export type Selection = Pick<
  WebhookReplayDefinition,
  'webhookId' | 'from' | 'to' | 'outcomes' | 'reasons' | 'requestIds'
>;
type Log = Pick<History['webhookLog'], 'list' | 'listOldest' | 'read'>;

/** Reads a page of requests, oldest first, and returns those that are selected.
 *  @param after ID of the last request of the previous page; '': the first page
 *  @throws ServiceError archive_unavailable */
export async function nextRequests(log: Log, selection: Selection, after: string, limit: number): Promise<LogPage> {
  const { webhookId, from, to, outcomes, requestIds } = selection;
  if (requestIds) {
    const ids = requestIds.filter((id) => id > after).slice(0, limit);
    const requests = ids.map((id) => ({ id })) as LogSummary[];
    return { requests, next: ids.length === limit ? ids.at(-1) : undefined };
  }
  const query = { limit, cursor: after || undefined, after: from, before: to, outcomes };
  const page = await log.listOldest(webhookId, query, Date.now());
  return { ...page, requests: withReasons(page.requests, selection) };
}

export function withReasons(requests: LogSummary[], { reasons }: Pick<Selection, 'reasons'>): LogSummary[] {
  return reasons ? requests.filter(({ reason }) => reason !== undefined && reasons.includes(reason)) : requests;
}

/** Number of requests, counted for at most a few seconds. @throws ServiceError archive_unavailable */
export async function countRequests(log: Log, selection: Selection): Promise<{ count: number; isExact: boolean }> {
  if (selection.requestIds) return { count: selection.requestIds.length, isExact: true };
  const startedAt = performance.now();
  let count = 0;
  for (let after = ''; ; ) {
    const { requests, next } = await nextRequests(log, selection, after, PAGE);
    count += requests.length;
    if (next === undefined) return { count, isExact: true };
    if (count >= COUNTED_MAX || performance.now() - startedAt > COUNT_MS) return { count, isExact: false };
    after = next;
  }
}
