import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { callApi } from '../../../api/client.ts';
import type { HistogramBucket } from '../../../api/types.ts';
import { DAY_MS } from '../../../lib/time-units.ts';
import { BarChart } from '../../../ui/bar-chart.tsx';
import type { Filters, TimeRange } from '../filters.ts';

const REFRESH_MS = 10_000;
const whole = new Intl.NumberFormat();

/** Events over time. Selecting a range with the mouse sets the time filter. */
export function Histogram({
  env,
  filters: { q, name, source, paused },
  range: { after, before },
  onSelectRange,
}: {
  env: string;
  filters: Filters;
  range: TimeRange;
  onSelectRange(from: number, to: number): void;
}) {
  // The counts are by whole names.
  const isWildcard = name?.endsWith('*') ?? false;
  const counted = isWildcard ? undefined : name;
  const { data, error } = useQuery({
    queryKey: ['events', env, 'histogram', { name: counted, after, before }],
    queryFn: ({ signal }) => {
      const query = {
        name: counted,
        received_after: after ?? (before ?? Date.now()) - DAY_MS,
        received_before: before,
      };
      return callApi<HistogramBucket[]>('/v1/events/histogram', { env, signal, query: { ...query, buckets: 60 } });
    },
    refetchInterval: before !== undefined || paused ? false : REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  const buckets = data?.data ?? [];
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  if (error) return null;
  return (
    <div className="mb-2 rounded-lg border border-line bg-surface px-3 pt-1">
      <BarChart
        label="Events received over time"
        times={buckets.map(({ from }) => Date.parse(from) / 1_000)}
        parts={[{ label: 'events', values: buckets.map(({ count }) => count), className: 'fill-accent' }]}
        format={(value) => whole.format(value)}
        unfinished={before === undefined}
        height={32}
        onSelectRange={(from, to) => onSelectRange(from * 1_000, to * 1_000)}
      >
        <span className="truncate">
          {whole.format(total)} {total === 1 ? 'event' : 'events'}
          {source !== undefined && ' from all sources'}
          {q !== undefined && ', whatever the search'}
          {isWildcard && ' of all names'}
          {after === undefined && ' in the last 24 hours'}
        </span>
        <span className="hidden whitespace-nowrap sm:inline">Drag to select a time range</span>
      </BarChart>
    </div>
  );
}
