/** What a provider sent, what of it came, and what is missing. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import type { Webhook, WebhookCompleteness } from '../../api/types.ts';
import { toast } from '../../ui/toast.tsx';

const RUNNING_MS = 1_000;
const IDLE_MS = 60_000;

const keyOf = (id: string) => ['webhook-completeness', id];

export function useCompleteness({ id, reconciliation }: Webhook) {
  return useQuery({
    queryKey: [...keyOf(id), reconciliation],
    queryFn: async ({ signal }) =>
      (await callApi<WebhookCompleteness>(`/v1/webhooks/${id}/completeness`, { signal })).data,
    enabled: reconciliation !== null,
    refetchInterval: ({ state }) => (state.data?.is_running ? RUNNING_MS : IDLE_MS),
  });
}

export function useReconcile(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => callApi(`/v1/webhooks/${id}/reconcile`, { method: 'POST', body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf(id) }),
    onError: toast.error,
  });
}
