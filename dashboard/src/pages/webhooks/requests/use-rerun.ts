import { useMutation, useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../../api/client.ts';
import type { LoggedRequest, TransformResult } from '../../../api/types.ts';

export type Rerun = Pick<LoggedRequest, 'outcome' | 'reason' | 'ids' | 'console'> &
  Pick<TransformResult, 'event' | 'events' | 'response' | 'duration_ms'> & { dry_run: boolean };

/** Processes a logged request again. A dry run changes nothing; an error says why the request is rejected. */
export function useRerun(webhookId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ requestId, dryRun }: { requestId: string; dryRun: boolean }) => {
      const path = `/v1/webhooks/${webhookId}/requests/${requestId}/rerun`;
      return (await callApi<Rerun>(path, { method: 'POST', body: { dry_run: dryRun } })).data;
    },
    onSettled: (_, __, { dryRun }) =>
      dryRun ? undefined : queries.invalidateQueries({ queryKey: ['webhook-requests'] }),
  });
}
