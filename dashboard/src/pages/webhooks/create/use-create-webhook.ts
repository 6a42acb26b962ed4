import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { callApi } from '../../../api/client.ts';
import type { CustomVerification, Webhook } from '../../../api/types.ts';
import { useInvalidateWebhooks } from '../../../features/webhooks/queries.ts';

export interface NewWebhook {
  name: string;
  environment: string;
  provider?: string;
  secrets?: string[];
  settings?: Record<string, string>;
  verification?: CustomVerification;
}

/** Opens what comes next: what to do at the provider, or without one the transform. */
export function useCreateWebhook() {
  const navigate = useNavigate();
  const refresh = useInvalidateWebhooks();
  return useMutation({
    mutationFn: async (body: NewWebhook) => (await callApi<Webhook>('/v1/webhooks', { method: 'POST', body })).data,
    async onSuccess({ id, provider }) {
      await refresh();
      await navigate({
        to: '/webhooks/$id',
        params: { id },
        search: ({ env }: { env?: string }) => ({ env, ...(provider !== null && { tab: 'setup' }) }) as never,
      });
    },
  });
}
