import { useMutation } from '@tanstack/react-query';
import { callApi } from '../../../api/client.ts';
import type { Webhook } from '../../../api/types.ts';
import { useInvalidateWebhooks } from '../../../features/webhooks/queries.ts';
import { useTell } from '../../../ui/toast.tsx';

/** Whether and where the webhook takes requests: `/pause`, `/resume`, `/rotate`. */
export function useWebhookAction(id: string) {
  const refresh = useInvalidateWebhooks();
  const tell = useTell();
  return useMutation({
    mutationFn: async ({ deed, body }: { deed: 'pause' | 'resume' | 'rotate'; body?: object; done: string }) =>
      (await callApi<Webhook>(`/v1/webhooks/${id}/${deed}`, { method: 'POST', ...(body && { body }) })).data,
    async onSuccess(_, { done }) {
      await refresh();
      tell.done(done);
    },
    onError: tell.failed,
  });
}
