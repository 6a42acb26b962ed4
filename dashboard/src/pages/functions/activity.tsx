import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FunctionMetrics } from '../../api/types.ts';
import { deployLabel } from '../../features/deploys/deploy-text.ts';
import { useFunctionLimits } from '../../features/functions/queries.ts';
import { failureRate } from '../../features/functions/stats.ts';
import { OUTCOMES } from '../../features/runs/outcomes.ts';
import { formatCount, formatMilliseconds, formatPercent } from '../../lib/format.ts';
import { TIME_RANGE_LABELS, TIME_RANGES, type TimeRange } from '../../lib/metric-ranges.ts';
import { isUnfinished } from '../../lib/time-steps.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import { ChartLegend } from '../../ui/chart-legend.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { SegmentedLinks } from '../../ui/segmented-links.tsx';
import { duration } from '../../ui/time.tsx';
import { barsOf } from './outcome-bars.ts';
import { useMetrics } from './use-metrics.ts';

const OPTIONS = TIME_RANGES.map((id) => ({ id, text: id, title: TIME_RANGE_LABELS[id] }));

/** How the function goes: its runs over time by their outcome, its failure rate, and what waits now. */
export function Activity({ functionId }: { functionId: string }) {
  const { range, metrics, error, refetch } = useMetrics(functionId);
  return (
    <Card
      title={TIME_RANGE_LABELS[range]}
      actions={<SegmentedLinks label="Time range" param="range" current={range} options={OPTIONS} />}
    >
      {error && !metrics && <ErrorAlert error={error} onRetry={refetch} />}
      {!metrics && !error && <Loading rows={5} />}
      {metrics && (
        <>
          <Totals functionId={functionId} range={range} total={metrics.total} />
          <RunChart functionId={functionId} metrics={metrics} />
        </>
      )}
    </Card>
  );
}

function RunChart({ functionId, metrics }: { functionId: string; metrics: FunctionMetrics }) {
  const navigate = useNavigate();
  const { times, parts, stepSeconds } = barsOf(metrics);
  const most = Math.max(0, ...times.map((_, i) => parts.reduce((sum, { values }) => sum + (values[i] ?? 0), 0)));
  return (
    <div className="px-4 pb-2">
      <BarChart
        label="Runs over time"
        times={times}
        parts={parts}
        format={formatCount}
        unfinished={isUnfinished(metrics)}
        height={72}
        marks={metrics.deploys.map((deploy) => ({ at: Date.parse(deploy.at) / 1_000, label: deployLabel(deploy) }))}
        onSelectRange={(from, to) => {
          const [start, end] = [from, to].map((at) => new Date(at * 1_000).toISOString());
          void navigate({ to: '/runs', search: { function: functionId, from: start, to: end } as never });
        }}
      >
        <span className="truncate">
          {most === 0 ? 'No run ended' : `At most ${formatCount(most)} in ${duration(stepSeconds * 1_000)}`}
        </span>
        <ChartLegend entries={OUTCOMES} />
      </BarChart>
    </div>
  );
}

interface TotalsProps {
  functionId: string;
  range: TimeRange;
  total: FunctionMetrics['total'];
}

function Totals({ functionId, range, total }: TotalsProps) {
  const share = failureRate(total);
  const linked = (status: 'Completed' | 'Failed' | 'Cancelled', count: number) => (
    <Link
      to="/runs"
      search={{ function: functionId, status, from: range } as never}
      className="hover:text-accent hover:underline"
    >
      {count.toLocaleString()}
    </Link>
  );
  return (
    <dl className="grid grid-cols-2 gap-4 p-4 sm:grid-cols-4 xl:grid-cols-9">
      <Figure name="Failure rate">
        <span className={share ? 'text-bad' : ''}>{share === undefined ? '–' : formatPercent(share)}</span>
      </Figure>
      <Figure name="Waiting now">
        <Waiting functionId={functionId} />
      </Figure>
      <Figure name="Started">{total.started.toLocaleString()}</Figure>
      <Figure name="Completed">{linked('Completed', total.completed)}</Figure>
      <Figure name="Failed">{linked('Failed', total.failed)}</Figure>
      <Figure name="Cancelled">{linked('Cancelled', total.cancelled)}</Figure>
      <Figure name="Failed attempts">{total.attempts_failed.toLocaleString()}</Figure>
      <Figure name="Duration, p50 / p95 / p99" className="col-span-2 sm:col-span-1 xl:col-span-2">
        <span className="text-sm">{percentiles(total.duration_ms)}</span>
      </Figure>
    </dl>
  );
}

/** Calls that wait for a limit. */
function Waiting({ functionId }: { functionId: string }) {
  const waiting = useFunctionLimits(functionId).data?.data.waiting;
  if (!waiting) return waiting === 0 ? '0' : '–';
  return (
    <Link to="/runs" search={{ function: functionId, status: 'Queued' } as never} className="text-warn hover:underline">
      {formatCount(waiting)}
    </Link>
  );
}

function percentiles(duration: FunctionMetrics['total']['duration_ms']): string {
  return duration ? [duration.p50, duration.p95, duration.p99].map(formatMilliseconds).join(' / ') : '–';
}

function Figure({ name, className, children }: { name: string; className?: string; children: ReactNode }) {
  return (
    <div className={className}>
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="text-lg font-medium tabular-nums">{children}</dd>
    </div>
  );
}
