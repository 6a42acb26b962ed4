/** Issues of webhooks, and the replay of failed requests. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useLiveUpdates } from '../../api/live-updates.ts';
import type { WebhookIssue, WebhookReplay, WebhookReplayDryRun } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { useThrottled } from '../../lib/use-throttled.ts';

export const ISSUE_KINDS = [
  'verification',
  'transform',
  'quarantine',
  'silence',
] as const satisfies WebhookIssue['kind'][];
const PAGE_SIZE = 100;
/** Pages that are not about webhooks have no connection for live updates of issues. */
const REFETCH_MS = 30_000;

/** Open issues: their number, also by webhook. One request for the navigation and all lists. */
export function useOpenIssues() {
  return useQuery({
    queryKey: ['webhook-issues', 'open'],
    queryFn: async ({ signal }) => {
      const query = { state: 'open', limit: PAGE_SIZE };
      const { data, metadata } = await callApi<WebhookIssue[]>('/v1/webhook-issues', { signal, query });
      const byWebhook = new Map<string, number>();
      for (const { webhook_id: id } of data) byWebhook.set(id, (byWebhook.get(id) ?? 0) + 1);
      return { total: data.length, isExact: metadata.cursor === undefined, byWebhook };
    },
    refetchInterval: REFETCH_MS,
  });
}

/** The issues of all webhooks, newest failure first. @param state one or more, separated by commas; undefined: all */
export function useIssues(state: string | undefined, kind: string | undefined) {
  const key = ['webhook-issues', state, kind];
  return useList<WebhookIssue>(key, '/v1/webhook-issues', { state, kind }, { keepsRows: true });
}

export function useIssuesOfWebhook(webhookId: string) {
  return useQuery({
    queryKey: ['webhook-issues', 'of', webhookId],
    queryFn: async ({ signal }) => (await callApi<WebhookIssue[]>(`/v1/webhooks/${webhookId}/issues`, { signal })).data,
  });
}

/** Refetches issues when one is opened, gets failures, or changes its state. */
export function useLiveIssues(): void {
  const queries = useQueryClient();
  const refetch = useThrottled(() => queries.invalidateQueries({ queryKey: ['webhook-issues'] }));
  useLiveUpdates('hello', refetch);
  useLiveUpdates('webhook-issues', refetch);
}

export interface IssueReplay {
  since: 'opened_at' | 'first_seen';
  rate: number;
}

export async function replayIssue(issueId: string, replay: IssueReplay, dryRun: boolean) {
  const { data } = await callApi<{ replay: WebhookReplay | null; dry_run: WebhookReplayDryRun | null }>(
    `/v1/webhook-issues/${issueId}/replay`,
    { method: 'POST', body: { ...replay, dry_run: dryRun } },
  );
  return data;
}
