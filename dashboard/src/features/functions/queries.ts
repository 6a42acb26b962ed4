import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { fetchAllPages } from '../../api/fetch-all-pages.ts';
import type { FunctionDetails, FunctionLimits, FunctionMetrics, ListedFunction } from '../../api/types.ts';
import { TIME_RANGE_MS, type TimeRange } from '../../lib/metric-ranges.ts';

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
    refetchInterval: ({ state }) => untilNextRunMs(state.data?.data.triggers ?? []),
  });
}

/** Runs and steps over time. @param step step whose values over time to read */
export function useFunctionMetrics(id: string, range: TimeRange, step: string | undefined) {
  const env = useEnv();
  return useQuery({
    queryKey: ['function', env, id, 'metrics', range, step],
    queryFn: ({ signal }) => {
      const to = Date.now();
      const query = { from: to - TIME_RANGE_MS[range], to, step };
      return callApi<FunctionMetrics>(`/v1/functions/${encodeURIComponent(id)}/metrics`, { env, signal, query });
    },
    // Longer ranges have longer time steps, which change more slowly.
    refetchInterval: range === '1h' ? 5_000 : 30_000,
    placeholderData: keepPreviousData,
  });
}

const LIMITS_POLL_MS = 2_000;
const NO_LIMITS_POLL_MS = 15_000;

/** The use of the function's limits, and what waits for them; while the page is visible. */
export function useFunctionLimits(id: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['function', env, id, 'limits'],
    queryFn: ({ signal }) => callApi<FunctionLimits>(`/v1/functions/${encodeURIComponent(id)}/limits`, { env, signal }),
    refetchInterval: ({ state }) => (hasLimits(state.data?.data) ? LIMITS_POLL_MS : NO_LIMITS_POLL_MS),
  });
}

export function hasLimits(all: FunctionLimits | undefined): boolean {
  return all !== undefined && (all.limits.length > 0 || all.waiting > 0);
}

const REFETCH_LEAST_MS = 1_000;
const REFETCH_MOST_MS = 3_600_000;

/** Time until the next run of the first schedule changes; false: there is no schedule. */
function untilNextRunMs(triggers: FunctionDetails['triggers']): number | false {
  const times = triggers.flatMap(({ next_run_at: at }) => (at ? [Date.parse(at) - Date.now()] : []));
  if (times.length === 0) return false;
  return Math.min(Math.max(Math.min(...times), REFETCH_LEAST_MS), REFETCH_MOST_MS);
}
