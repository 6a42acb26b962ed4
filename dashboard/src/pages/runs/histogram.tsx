import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { RunBucket } from '../../api/types.ts';
import { OUTCOMES } from '../../features/runs/outcomes.ts';
import type { RunFilters } from '../../features/runs/use-runs.ts';
import { formatCount } from '../../lib/format.ts';
import { stopOf } from '../../lib/stop.ts';
import { parseTime } from '../../lib/time-range.ts';
import { DAY_MS } from '../../lib/time-units.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import { ChartLegend } from '../../ui/chart-legend.tsx';
import { absolute } from '../../ui/time.tsx';

const REFRESH_MS = 10_000;
const BUCKETS = 60;
const KINDS = [...OUTCOMES, ['active', 'fill-busy']] as const;

interface HistogramProps {
  filters: RunFilters;
  /** Called with Unix milliseconds. */
  onSelectRange(from: number, to: number): void;
}

/** Runs by the time at which they were queued, and by their outcome. Selecting a range with the mouse sets the time filter. */
export function Histogram({ filters, onSelectRange }: HistogramProps) {
  const env = useEnv();
  const { function: functionId, app, exclude, from, to, status, q, error: errorText, fingerprint } = filters;
  const { data, error } = useQuery({
    queryKey: ['runs', env, 'histogram', { functionId, app, exclude, from, to }],
    queryFn: ({ signal }) => {
      const now = Date.now();
      const before = parseTime(to, now);
      const after = parseTime(from, now) ?? new Date((before ? Date.parse(before) : now) - DAY_MS).toISOString();
      const range = { queued_after: after, queued_before: before };
      const query = { function_id: functionId, app, exclude, ...range, buckets: BUCKETS };
      return callApi<RunBucket[]>('/v1/runs/histogram', { env, signal, query });
    },
    refetchInterval: to === undefined ? REFRESH_MS : false,
    placeholderData: keepPreviousData,
  });
  const buckets = data?.data ?? [];
  const stop = data && stopOf(data.metadata);
  if (error || (data && buckets.length === 0)) return null;
  const shown = KINDS.filter(([kind]) => kind === kindOf(status) || kindOf(status) === undefined);
  const parts = shown.map(([kind, className]) => ({
    label: kind,
    values: buckets.map((bucket) => bucket[kind]),
    className,
  }));
  const total = parts.reduce((sum, { values }) => sum + values.reduce((all, value) => all + value, 0), 0);
  const isSearch = q !== undefined || errorText !== undefined || fingerprint !== undefined;
  return (
    <div className="mb-2 rounded-lg border border-line bg-surface px-3 pt-1">
      <BarChart
        label="Runs queued over time"
        times={buckets.map(({ from: start }) => Date.parse(start) / 1_000)}
        parts={parts}
        format={formatCount}
        unfinished={to === undefined}
        height={32}
        onSelectRange={(start, end) => onSelectRange(start * 1_000, end * 1_000)}
      >
        <span className="truncate">
          {formatCount(total)} {kindOf(status) === 'active' && 'active '}
          {total === 1 ? 'run' : 'runs'}
          {isSearch && ', whatever the search'}
          {from === undefined && ' queued in the last 24 hours'}
          {stop && (
            <span
              className="text-warn"
              title={`The archive ${stop.why === 'time' ? 'took too long' : 'is unavailable'}`}
            >
              {' '}
              without archived ones{stop.at && ` before ${absolute(new Date(stop.at))}`}
            </span>
          )}
        </span>
        <span className="hidden gap-4 whitespace-nowrap sm:flex">
          <ChartLegend entries={shown} />
          Drag to select a time range
        </span>
      </BarChart>
    </div>
  );
}

/** undefined: all. */
function kindOf(status: string | undefined): (typeof KINDS)[number][0] | undefined {
  if (status === undefined) return undefined;
  return OUTCOMES.map(([kind]) => kind).find((kind) => kind === status.toLowerCase()) ?? 'active';
}
