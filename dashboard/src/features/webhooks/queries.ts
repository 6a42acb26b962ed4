/** What the pages of webhooks ask of the service. Webhooks are the account's: no environment selects among them. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { ask, type Reply } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { useLive } from '../../api/live-updates.ts';
import type { ListedRequest, LoggedRequestInFull, Webhook, WebhookStats } from '../../api/types.ts';

const MOST = 100;

/** All of them, however many pages that is. */
export async function allWebhooks(signal?: AbortSignal): Promise<Webhook[]> {
  const all: Webhook[] = [];
  let cursor: string | undefined;
  do {
    const page: Reply<Webhook[]> = await ask('/v1/webhooks', {
      query: { limit: MOST, cursor },
      ...(signal && { signal }),
    });
    all.push(...page.data);
    cursor = page.metadata.cursor;
  } while (cursor !== undefined);
  return all;
}

export function useWebhooks() {
  const env = useEnv();
  return useQuery({ queryKey: ['webhooks', env, 'all'], queryFn: ({ signal }) => allWebhooks(signal) });
}

export function useWebhook(id: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['webhooks', env, id],
    queryFn: async ({ signal }) => (await ask<Webhook>(`/v1/webhooks/${id}`, { signal })).data,
  });
}

/** By ID of the webhook. */
export function useWebhookStats() {
  const env = useEnv();
  return useQuery({
    queryKey: ['webhook-stats', env],
    queryFn: async ({ signal }) => {
      const { data } = await ask<WebhookStats[]>('/v1/webhooks/stats', { signal });
      return new Map(data.map((stats) => [stats.webhook_id, stats]));
    },
  });
}

/** The log, newest first. */
export function useRequests(id: string) {
  const env = useEnv();
  return useInfiniteQuery({
    queryKey: ['webhook-requests', env, id],
    queryFn: ({ signal, pageParam }) =>
      ask<ListedRequest[]>(`/v1/webhooks/${id}/requests`, { signal, query: { limit: MOST, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ metadata }) => metadata.cursor,
  });
}

/** One of the log, with headers and body. It never changes. */
export function useRequest(id: string, requestId: string | undefined) {
  const env = useEnv();
  return useQuery({
    queryKey: ['webhook-request', env, id, requestId],
    queryFn: async ({ signal }) =>
      (await ask<LoggedRequestInFull>(`/v1/webhooks/${id}/requests/${requestId}`, { signal })).data,
    enabled: requestId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Keeps log and list as they are at the service while requests come in. */
export function useLiveRequests(id?: string): void {
  const queries = useQueryClient();
  const readAnew = () => {
    void queries.invalidateQueries({ queryKey: ['webhook-requests'] });
    void queries.invalidateQueries({ queryKey: ['webhook-stats'] });
  };
  useLive('hello', readAnew);
  useLive('webhook-requests', ({ requests }) => {
    if (id === undefined || requests.some(({ webhook_id }) => webhook_id === id)) readAnew();
  });
}

/** After a webhook was made, changed or deleted. */
export function useRefresh() {
  const queries = useQueryClient();
  return useCallback(() => queries.invalidateQueries({ queryKey: ['webhooks'] }), [queries]);
}

type Change = Partial<Pick<Webhook, 'name' | 'transform' | 'event_names' | 'ip_addresses'>>;

export function useChangeWebhook(id: string) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: async (change: Change) =>
      (await ask<Webhook>(`/v1/webhooks/${id}`, { method: 'PUT', body: change })).data,
    onSuccess: refresh,
  });
}
