import { useMutation } from '@tanstack/react-query';
import { callApi } from '../../../api/client.ts';
import type { Webhook } from '../../../api/types.ts';
import { useInvalidateWebhooks } from '../../../features/webhooks/queries.ts';
import { toast } from '../../../ui/toast.tsx';

/** Pauses, resumes or rotates the URL of a webhook. */
export function useWebhookAction(id: string) {
  const refresh = useInvalidateWebhooks();
  return useMutation({
    mutationFn: async ({
      action,
      body,
    }: {
      action: 'pause' | 'resume' | 'rotate';
      body?: object;
      successMessage: string;
    }) => (await callApi<Webhook>(`/v1/webhooks/${id}/${action}`, { method: 'POST', ...(body && { body }) })).data,
    async onSuccess(_, { successMessage }) {
      await refresh();
      toast.success(successMessage);
    },
    onError: toast.error,
  });
}
