import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import type { StoredEvent } from '../../api/types.ts';

/** The newest event of the environment; `data` is null while there is none, and polls until there is one. */
export function useNewestEvent(env: string) {
  return useQuery({
    queryKey: ['events', env, 'newest'],
    queryFn: async ({ signal }) => {
      const { data } = await callApi<StoredEvent[]>('/v1/events', { env, signal, query: { limit: 1 } });
      return data[0] ?? null;
    },
    refetchInterval: ({ state }) => (state.data === null ? 2_000 : false),
  });
}
