import { getRouteApi } from '@tanstack/react-router';
import { useFunctionMetrics } from '../../features/functions/queries.ts';

const route = getRouteApi('/functions/$id');

/** Runs and steps over the time range of the URL. The parts of the page that use it share one request. */
export function useMetrics(functionId: string) {
  const { range = '24h', step } = route.useSearch();
  const { data, error, refetch } = useFunctionMetrics(functionId, range, step);
  return { range, step, metrics: data?.data, error, refetch: () => void refetch() };
}
