import { useMutation } from '@tanstack/react-query';
import { callApi } from '../../../api/client.ts';
import type { Webhook } from '../../../api/types.ts';
import { useInvalidateWebhooks } from '../../../features/webhooks/queries.ts';

/** How long the secret before stays valid. */
export const KEEP_OLD = [
  [0, 'Remove it now'],
  [3_600, 'Keep it for an hour'],
  [86_400, 'Keep it for a day'],
  [604_800, 'Keep it for a week'],
  [2_592_000, 'Keep it for 30 days'],
] as const;
export const DAY_SECONDS = 86_400;

/** Saves a secret, which counts at once. */
export function useRotateSecret(webhookId: string) {
  const refresh = useInvalidateWebhooks();
  return useMutation({
    mutationFn: async ({ secret, keepOldSeconds }: { secret: string; keepOldSeconds: number }) => {
      const body = { secret, keep_old_seconds: keepOldSeconds };
      return (await callApi<Webhook>(`/v1/webhooks/${webhookId}/secrets`, { method: 'POST', body })).data;
    },
    onSuccess: refresh,
  });
}
