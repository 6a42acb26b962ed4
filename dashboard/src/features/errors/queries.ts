/** Error groups: why runs fail. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { useLiveUpdates } from '../../api/live-updates.ts';
import type { DetailedErrorGroup, ErrorGroup } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/time-units.ts';
import { useThrottled } from '../../lib/use-throttled.ts';

const PAGE_SIZE = 50;
/** Maximum number of groups read for a day. The most frequent groups are among them. */
const SORTED_MAX = 100;

export interface ErrorFilters {
  /** undefined: all. */
  state?: ErrorGroup['state'] | undefined;
  function?: string | undefined;
}

/** Group with the newest failure first. */
export function useErrorGroups({ state, function: functionId }: ErrorFilters) {
  const env = useEnv();
  const query = { state, function_id: functionId, limit: PAGE_SIZE };
  return useList<ErrorGroup>(['errors', env, state, functionId], '/v1/errors', query, { env, keepsRows: true });
}

/** Open groups with failures in the last 24 hours, most frequent first. @param functionId undefined: all functions */
export function useFrequentErrors(functionId?: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['errors', env, 'frequent', functionId],
    queryFn: async ({ signal }) => {
      const from = new Date(Math.floor((Date.now() - DAY_MS) / MINUTE_MS) * MINUTE_MS).toISOString();
      const query = { state: 'open', function_id: functionId, from, limit: SORTED_MAX };
      const { data } = await callApi<ErrorGroup[]>('/v1/errors', { env, signal, query });
      return data.toSorted((a, b) => b.count - a.count);
    },
    refetchInterval: MINUTE_MS,
  });
}

/** @param fingerprint undefined: the run has no error group */
export function useErrorGroup(fingerprint: string | null | undefined) {
  const env = useEnv();
  return useQuery({
    queryKey: ['errors', env, 'one', fingerprint],
    queryFn: async ({ signal }) =>
      (await callApi<DetailedErrorGroup>(`/v1/errors/${fingerprint}`, { env, signal })).data,
    enabled: Boolean(fingerprint),
    retry: false,
  });
}

/** Refetches groups when a run fails. */
export function useLiveErrors(): void {
  const queries = useQueryClient();
  const refetch = useThrottled(() => queries.invalidateQueries({ queryKey: ['errors'] }));
  useLiveUpdates('hello', refetch);
  useLiveUpdates('runs', ({ runs }) => {
    if (runs.some(({ status }) => status === 'Failed')) refetch();
  });
}
