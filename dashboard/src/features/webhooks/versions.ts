/** Versions of a webhook. */
import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { WebhookVersion, WebhookVersionDetails, WebhookVersionDiff } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';

/** Newest first. Read again when webhooks are. */
export function useVersions(webhookId: string) {
  const env = useEnv();
  return useList<WebhookVersion>(['webhooks', env, webhookId, 'versions'], `/v1/webhooks/${webhookId}/versions`);
}

export function useVersion(webhookId: string, version: number) {
  const env = useEnv();
  return useQuery({
    queryKey: ['webhooks', env, webhookId, 'versions', version],
    queryFn: async ({ signal }) =>
      (await callApi<WebhookVersionDetails>(`/v1/webhooks/${webhookId}/versions/${version}`, { signal })).data,
  });
}

/** Changes from the version `before` to `after`. Versions never change, so neither does the result.
 *  @param before undefined: the diff is not read */
export function useVersionDiff(webhookId: string, before: number | undefined, after: number) {
  return useQuery({
    queryKey: ['webhook-diff', webhookId, before, after],
    queryFn: async ({ signal }) => {
      const path = `/v1/webhooks/${webhookId}/versions/${after}/diff`;
      return (await callApi<WebhookVersionDiff>(path, { signal, query: { with: before } })).data;
    },
    enabled: before !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

const FIELDS: Record<WebhookVersion['changed'][number], string> = {
  transform: 'Transform',
  filter: 'Filter',
  provider: 'Provider',
  verification: 'Verification',
  settings: 'Provider settings',
  verify: 'Requests are verified',
  methods: 'Methods',
  deduplicate: 'Deduplication',
  max_body_bytes: 'Size limit',
  large_bodies: 'Large bodies',
  order: 'Order',
};

export function fieldLabel(field: WebhookVersion['changed'][number]): string {
  return FIELDS[field];
}
