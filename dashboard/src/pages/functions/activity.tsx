import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FunctionMetrics } from '../../api/types.ts';
import { DeployItem } from '../../features/deploys/deploy-item.tsx';
import { deployLabel } from '../../features/deploys/deploy-text.ts';
import { failureRate } from '../../features/functions/stats.ts';
import { formatCount, formatMilliseconds, formatPercent } from '../../lib/format.ts';
import { TIME_RANGE_LABELS, TIME_RANGES, type TimeRange } from '../../lib/metric-ranges.ts';
import { isUnfinished } from '../../lib/time-steps.ts';
import { Chart } from '../../ui/chart.tsx';
import type { Line } from '../../ui/chart-props.ts';
import { Card } from '../../ui/page.tsx';
import { SegmentedLinks } from '../../ui/segmented-links.tsx';

const OPTIONS = TIME_RANGES.map((id) => ({ id, text: id, title: TIME_RANGE_LABELS[id] }));
const DASHED = [5, 4];
const DOTTED = [2, 3];

/** The runs of a function over time, with the deploys of its app. */
export function Activity({
  functionId,
  range,
  metrics,
}: {
  functionId: string;
  range: TimeRange;
  metrics: FunctionMetrics;
}) {
  const { deploys } = metrics;
  return (
    <Card
      title={TIME_RANGE_LABELS[range]}
      actions={<SegmentedLinks label="Time range" param="range" current={range} options={OPTIONS} />}
    >
      <Totals functionId={functionId} range={range} total={metrics.total} />
      <RunCharts metrics={metrics} />
      {deploys.length > 0 && (
        <section aria-label="Deploys in this time range" className="border-t border-line">
          <h3 className="px-4 pt-3 text-xs font-medium text-muted">Deploys</h3>
          <ul className="max-h-52 divide-y divide-line overflow-y-auto">
            {deploys.map((deploy) => (
              <DeployItem key={deploy.id} deploy={deploy} linksToApp />
            ))}
          </ul>
        </section>
      )}
    </Card>
  );
}

function RunCharts({ metrics }: { metrics: FunctionMetrics }) {
  const { points, deploys } = metrics;
  const shared = {
    times: points.map(({ at }) => Date.parse(at) / 1_000),
    unfinished: isUnfinished(metrics),
    marks: deploys.map((deploy) => ({ at: Date.parse(deploy.at) / 1_000, label: deployLabel(deploy) })),
  };
  const count = (of: 'completed' | 'failed' | 'cancelled' | 'started' | 'attempts_failed') =>
    points.map((point) => point[of]);
  const runs: Line[] = [
    { label: 'started', color: '--busy', values: count('started'), fill: true, dash: [1, 2] },
    { label: 'completed', color: '--good', values: count('completed') },
    { label: 'failed', color: '--bad', values: count('failed'), dash: DASHED },
    { label: 'cancelled', color: '--muted', values: count('cancelled'), dash: DOTTED },
    { label: 'failed attempts', color: '--warn', values: count('attempts_failed'), dash: [8, 3, 2, 3] },
  ];
  return (
    <div className="grid gap-x-4 border-t border-line xl:grid-cols-2">
      <ChartSection title="Runs" subtitle="per interval">
        <Chart label="Runs per interval" {...shared} lines={runs} format={wholeCount} />
      </ChartSection>
      <ChartSection title="Duration" subtitle="of runs, from start to end">
        <Chart label="Duration of runs" {...shared} lines={durationLines(points)} format={formatMilliseconds} />
      </ChartSection>
    </div>
  );
}

/** p50, p95 and p99. */
export function durationLines(points: readonly Pick<FunctionMetrics['points'][number], 'duration_ms'>[]): Line[] {
  const values = (of: 'p50' | 'p95' | 'p99') => points.map(({ duration_ms }) => duration_ms?.[of] ?? null);
  return [
    { label: 'p50', color: '--accent', values: values('p50') },
    { label: 'p95', color: '--busy', values: values('p95'), dash: DASHED },
    { label: 'p99', color: '--warn', values: values('p99'), dash: DOTTED },
  ];
}

/** Counts are integers: ticks between them have no label. */
const wholeCount = (value: number) => (Number.isInteger(value) ? formatCount(value) : '');

function ChartSection({ title, subtitle, children }: { title: string; subtitle: string; children: ReactNode }) {
  return (
    <div className="min-w-0 px-3 pt-3 pb-2">
      <h3 className="px-1 pb-1 text-sm font-medium">
        {title} <span className="text-xs font-normal text-muted">{subtitle}</span>
      </h3>
      {children}
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
    <dl className="grid grid-cols-2 gap-4 p-4 sm:grid-cols-4 xl:grid-cols-8">
      <Figure name="Started">{total.started.toLocaleString()}</Figure>
      <Figure name="Completed">{linked('Completed', total.completed)}</Figure>
      <Figure name="Failed">{linked('Failed', total.failed)}</Figure>
      <Figure name="Cancelled">{linked('Cancelled', total.cancelled)}</Figure>
      <Figure name="Failure rate">{share === undefined ? '–' : formatPercent(share)}</Figure>
      <Figure name="Failed attempts">{total.attempts_failed.toLocaleString()}</Figure>
      <Figure name="Duration, p50 / p95 / p99" className="col-span-2">
        <span className="text-sm">{percentiles(total.duration_ms)}</span>
      </Figure>
    </dl>
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
