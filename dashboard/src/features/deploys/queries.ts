import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Deploy } from '../../api/types.ts';

const REFRESH_MS = 30_000;

/** Newest first.
 *  @param limit at most 100 */
export function useDeploys(app: string, limit: number) {
  const env = useEnv();
  return useQuery({
    queryKey: ['app', env, app, 'deploys', limit],
    queryFn: ({ signal }) => callApi<Deploy[]>('/v1/deploys', { env, signal, query: { app, limit } }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
