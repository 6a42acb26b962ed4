/** The selected environment. It is in the URL of every page: `?env=staging`. */
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { callApi, PRODUCTION } from './client.ts';
import type { Environment } from './types.ts';

export function useEnv(): string {
  return useSearch({ strict: false, select: (search) => (search as { env?: string }).env }) ?? PRODUCTION;
}

export function useEnvironments(): Environment[] {
  const { data } = useQuery({
    queryKey: ['environments', 'picker'],
    queryFn: ({ signal }) => callApi<Environment[]>('/v1/environments', { signal, query: { limit: 100 } }),
  });
  return data?.data ?? [];
}
