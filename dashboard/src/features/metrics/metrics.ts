/** Queries of the overview, and the numbers it derives from them. */
import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import type { Metrics, Overview } from '../../api/types.ts';
import { TIME_RANGE_LABELS, TIME_RANGE_MS, TIME_RANGES, type TimeRange } from '../../lib/metric-ranges.ts';

export { TIME_RANGE_LABELS, TIME_RANGES, type TimeRange };

export function useMetrics(env: string, range: TimeRange) {
  return useQuery({
    queryKey: ['metrics', env, range],
    queryFn: ({ signal }) => {
      const to = Date.now();
      return callApi<Metrics>('/v1/metrics', { env, signal, query: { from: to - TIME_RANGE_MS[range], to } });
    },
    // Longer ranges have longer intervals, which change more slowly.
    refetchInterval: range === '1h' ? 5_000 : 30_000,
    placeholderData: (before) => before,
  });
}

export function useOverview(env: string) {
  return useQuery({
    queryKey: ['overview', env],
    queryFn: ({ signal }) => callApi<Overview>('/v1/overview', { env, signal }),
    refetchInterval: 5_000,
  });
}

type CounterName = 'events' | 'runs_started' | 'runs_completed' | 'runs_failed';

export function total(points: Metrics['points'], counter: CounterName): number {
  return points.reduce((sum, point) => sum + point[counter], 0);
}

/** Share of failed runs among completed and failed runs, 0 to 1; null: there are none. */
export function failureRate(completed: number, failed: number): number | null {
  return completed + failed === 0 ? null : failed / (completed + failed);
}

/** @param seconds elapsed, fewer than a whole interval's in the current one */
export function perSecond(count: number, seconds: number): number {
  return count / Math.max(seconds, 1);
}

/** Elapsed seconds of each point's interval. */
export function elapsedSeconds({ from, to, step_seconds, points }: Metrics): number[] {
  const begin = Date.parse(from);
  const end = Date.parse(to);
  return points.map(({ at }) => {
    const start = Date.parse(at);
    return Math.max(1, (Math.min(start + step_seconds * 1_000, end) - Math.max(start, begin)) / 1_000);
  });
}

/** Rate over the last two intervals, because the last one may have just begun. */
export function currentRate(metrics: Metrics, counter: CounterName): number {
  const seconds = elapsedSeconds(metrics).slice(-2);
  return perSecond(
    total(metrics.points.slice(-2), counter),
    seconds.reduce((sum, each) => sum + each, 0),
  );
}
