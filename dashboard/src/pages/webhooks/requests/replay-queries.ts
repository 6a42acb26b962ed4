import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../../api/client.ts';
import type { WebhookReplay, WebhookReplayDryRun, WebhookReplayResult } from '../../../api/types.ts';
import { POLL_MS } from '../../../ui/bulk-operations/operation.ts';

export type WebhookReplayOutcome = 'done' | 'failed' | 'skipped';
export type ListedReplay = Omit<WebhookReplay, 'request_ids'>;

/** Requests per second. */
export const WEBHOOK_RATE_MAX = 100;
export const WEBHOOK_RATE_DEFAULT = 10;

/** The requests to replay, and the transform to use. */
export interface ReplayForm {
  from: string | undefined;
  to: string | undefined;
  outcome: string;
  /** Only requests with these reasons; undefined: all. */
  reasons?: readonly string[] | undefined;
  /** These alone, whatever their time and outcome. */
  requestIds?: readonly string[] | undefined;
  /** undefined: the saved transform. */
  draft: string | undefined;
  rate: number;
}

export function bodyOf({ from, to, outcome, reasons, requestIds, draft, rate }: ReplayForm, dryRun: boolean) {
  return {
    ...(reasons && { reasons }),
    ...(requestIds && { request_ids: requestIds }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(outcome !== '' && { outcomes: [outcome] }),
    ...(draft !== undefined && { draft }),
    rate,
    dry_run: dryRun,
  };
}

export async function postReplay(webhookId: string, form: ReplayForm, dryRun: boolean) {
  const { data } = await callApi<{ replay: WebhookReplay | null; dry_run: WebhookReplayDryRun | null }>(
    `/v1/webhooks/${webhookId}/replays`,
    { method: 'POST', body: bodyOf(form, dryRun) },
  );
  return data;
}

/** Drafts; at least one is set. */
export interface Drafts {
  draft?: string;
  /** null: no filter. */
  draft_filter?: string | null;
}

/** The drafts' results for the newest 50 requests, next to the webhook's results. */
export async function tryDrafts(webhookId: string, drafts: Drafts) {
  const { data } = await callApi<{ dry_run: WebhookReplayDryRun | null }>(`/v1/webhooks/${webhookId}/replays`, {
    method: 'POST',
    body: { ...drafts, dry_run: true },
  });
  return data.dry_run;
}

/** Newest first. */
export function useWebhookReplays(webhookId: string, { enabled = true } = {}) {
  return useQuery({
    enabled,
    queryKey: ['webhook-replays', webhookId],
    queryFn: async ({ signal }) =>
      (await callApi<ListedReplay[]>(`/v1/webhooks/${webhookId}/replays`, { signal })).data,
    refetchInterval: ({ state }) => (state.data?.some((one) => one.state === 'running') ? POLL_MS : false),
  });
}

/** @param count of results: they are read again when it changes */
export function useWebhookReplayResults(
  webhookId: string,
  replayId: string,
  status: WebhookReplayOutcome,
  count: number,
) {
  return useQuery({
    queryKey: ['webhook-replays', webhookId, replayId, status, count],
    queryFn: async ({ signal }) =>
      (
        await callApi<WebhookReplayResult[]>(`/v1/webhooks/${webhookId}/replays/${replayId}/results`, {
          signal,
          query: { status },
        })
      ).data,
    enabled: count > 0,
    placeholderData: (before) => before,
  });
}
