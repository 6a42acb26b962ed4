/** Webhook queries. Webhooks belong to the installation: the selected environment does not filter them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { type ApiResponse, callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { useLiveUpdates } from '../../api/live-updates.ts';
import type {
  CustomVerification,
  ListedRequest,
  LoggedRequestDetails,
  Webhook,
  WebhookStats,
} from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { parseTime } from '../../lib/time-range.ts';
import type { TimeBounds } from '../../ui/time-filter.tsx';

const PAGE_SIZE = 100;

/** All webhooks, from all pages. */
export async function fetchWebhooks(signal?: AbortSignal): Promise<Webhook[]> {
  const all: Webhook[] = [];
  let cursor: string | undefined;
  do {
    const page: ApiResponse<Webhook[]> = await callApi('/v1/webhooks', {
      query: { limit: PAGE_SIZE, cursor },
      ...(signal && { signal }),
    });
    all.push(...page.data);
    cursor = page.metadata.cursor;
  } while (cursor !== undefined);
  return all;
}

export function useWebhooks() {
  const env = useEnv();
  return useQuery({ queryKey: ['webhooks', env, 'all'], queryFn: ({ signal }) => fetchWebhooks(signal) });
}

export function useWebhook(id: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['webhooks', env, id],
    queryFn: async ({ signal }) => (await callApi<Webhook>(`/v1/webhooks/${id}`, { signal })).data,
  });
}

/** By webhook ID. */
export function useWebhookStats() {
  const env = useEnv();
  return useQuery({
    queryKey: ['webhook-stats', env],
    queryFn: async ({ signal }) => {
      const { data } = await callApi<WebhookStats[]>('/v1/webhooks/stats', { signal });
      return new Map(data.map((stats) => [stats.webhook_id, stats]));
    },
  });
}

/** The request log, newest first.
 *  @param bounds times as the URL has them (lib/time-filter.ts) */
export function useRequests(id: string, { from, to }: TimeBounds = {}) {
  const env = useEnv();
  // The same bounds for all pages of the list.
  const query = useMemo(() => {
    const now = Date.now();
    return { received_after: parseTime(from, now), received_before: parseTime(to, now) };
  }, [from, to]);
  return useList<ListedRequest>(['webhook-requests', env, id, { from, to }], `/v1/webhooks/${id}/requests`, query);
}

/** A logged request with headers and body. It never changes. */
export function useRequest(id: string, requestId: string | undefined) {
  const env = useEnv();
  return useQuery({
    queryKey: ['webhook-request', env, id, requestId],
    queryFn: async ({ signal }) =>
      (await callApi<LoggedRequestDetails>(`/v1/webhooks/${id}/requests/${requestId}`, { signal })).data,
    enabled: requestId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** How many requests of the log the filter dropped. The list of event names drops others. */
export function useDropped(id: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['webhook-requests', env, id, 'dropped'],
    queryFn: async ({ signal }) => {
      const query = { outcome: 'filtered', limit: PAGE_SIZE };
      const { data, metadata } = await callApi<ListedRequest[]>(`/v1/webhooks/${id}/requests`, { signal, query });
      const count = data.filter(({ reason }) => reason === 'filter_not_met').length;
      return { count, isExact: metadata.cursor === undefined };
    },
  });
}

/** Refetches request logs and stats while requests arrive. */
export function useLiveRequests(id?: string): void {
  const queries = useQueryClient();
  const refetch = () => {
    void queries.invalidateQueries({ queryKey: ['webhook-requests'] });
    void queries.invalidateQueries({ queryKey: ['webhook-stats'] });
  };
  useLiveUpdates('hello', refetch);
  useLiveUpdates('webhook-requests', ({ requests }) => {
    if (id === undefined || requests.some(({ webhook_id }) => webhook_id === id)) refetch();
  });
}

/** Call it after a webhook was created, changed or deleted. */
export function useInvalidateWebhooks() {
  const queries = useQueryClient();
  return useCallback(() => queries.invalidateQueries({ queryKey: ['webhooks'] }), [queries]);
}

/** null removes. */
type Change = Partial<
  Pick<
    Webhook,
    | 'name'
    | 'transform'
    | 'event_names'
    | 'ip_addresses'
    | 'provider'
    | 'verify'
    | 'deduplicate'
    | 'settings'
    | 'filter'
  > & {
    verification: CustomVerification;
    methods: Webhook['methods'] | null;
    max_body_bytes: number | null;
    large_bodies: Webhook['large_bodies'];
    order: Webhook['order'];
    reconciliation: { key?: string; account?: Record<string, string> } | null;
    /** Why, for the list of versions. */
    message: string;
    /** Refused if the webhook has another one by now. */
    if_version: number;
  }
>;

export function useUpdateWebhook(id: string) {
  const refresh = useInvalidateWebhooks();
  return useMutation({
    mutationFn: async (change: Change) =>
      (await callApi<Webhook>(`/v1/webhooks/${id}`, { method: 'PATCH', body: change })).data,
    onSuccess: refresh,
  });
}
