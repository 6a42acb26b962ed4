import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { fetchAllPages } from '../../api/fetch-all-pages.ts';
import type { FunctionDetails, ListedFunction } from '../../api/types.ts';

/** @param archived functions that their apps no longer register, instead of active ones */
export function useFunctions(archived = false) {
  const env = useEnv();
  const { data: functions, ...result } = useQuery({
    queryKey: ['functions', env, 'all', archived],
    queryFn: ({ signal }) => fetchAllPages<ListedFunction>('/v1/functions', { env, signal, query: { archived } }),
  });
  return { functions, ...result };
}

export function useFunction(id: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['function', env, id],
    queryFn: ({ signal }) => callApi<FunctionDetails>(`/v1/functions/${encodeURIComponent(id)}`, { env, signal }),
  });
}
