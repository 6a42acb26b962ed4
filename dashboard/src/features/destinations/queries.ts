import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { fetchAllPages } from '../../api/fetch-all-pages.ts';
import type { Destination, Webhook } from '../../api/types.ts';

export function useDestinations() {
  const env = useEnv();
  return useQuery({
    queryKey: ['destinations', env],
    queryFn: ({ signal }) => fetchAllPages<Destination>('/v1/destinations', { env, signal }),
  });
}

export function useDestination(name: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['destinations', env, name],
    queryFn: ({ signal }) => callApi<Destination>(destinationPath(name), { env, signal }),
  });
}

export function destinationPath(name: string): string {
  return `/v1/destinations/${encodeURIComponent(name)}`;
}

/** Webhooks by their IDs, for forms and lists. */
export function useWebhookNames(): ReadonlyMap<string, string> {
  const env = useEnv();
  const { data } = useQuery({
    queryKey: ['webhook-names', env],
    queryFn: ({ signal }) => fetchAllPages<Webhook>('/v1/webhooks', { env, signal }),
  });
  return useMemo(() => new Map(data?.map(({ id, name }) => [id, name])), [data]);
}
