import { useQuery, useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useLiveUpdates } from '../../api/live-updates.ts';
import type { WebhookStats } from '../../api/types.ts';
import { useThrottled } from '../../lib/use-throttled.ts';

const KEY = ['webhook-stats', 'rejected'];
const REFETCH_MS = 30_000;

/** Rejected requests in the logs of all webhooks, at least. */
export function useRejectedRequests(): number {
  const queries = useQueryClient();
  const refetch = useThrottled(() => queries.invalidateQueries({ queryKey: KEY }));
  useLiveUpdates('webhook-requests', ({ requests }) => {
    if (requests.some(({ outcome }) => outcome === 'rejected')) refetch();
  });
  const { data } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => callApi<WebhookStats[]>('/v1/webhooks/stats', { signal, query: { limit: 100 } }),
    refetchInterval: REFETCH_MS,
  });
  return (data?.data ?? []).reduce((sum, { rejected }) => sum + rejected, 0);
}
