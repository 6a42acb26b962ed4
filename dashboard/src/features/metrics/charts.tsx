import type { Metrics } from '../../api/types.ts';
import { formatCount, formatMilliseconds } from '../../lib/format.ts';
import { isUnfinished } from '../../lib/time-steps.ts';
import { Chart } from '../../ui/chart.tsx';
import type { Line } from '../../ui/chart-props.ts';
import { Card } from '../../ui/page.tsx';

const DASHED = [5, 4];
const LATENCIES = [
  { of: 'ack_ms', title: 'Ingest latency', subtitle: 'from request to response' },
  { of: 'start_ms', title: 'Start latency', subtitle: 'from event to first function call' },
] as const;

/** Events and runs over time, and how fast they are.
 *  @param withLatency false: counts alone */
export function Charts({ metrics, withLatency = true }: { metrics: Metrics; withLatency?: boolean }) {
  const { points } = metrics;
  const shared = {
    times: points.map(({ at }) => Date.parse(at) / 1_000),
    unfinished: isUnfinished(metrics),
  };
  const runs: Line[] = [
    { label: 'completed', color: '--good', values: points.map(({ runs_completed }) => runs_completed) },
    { label: 'failed', color: '--bad', values: points.map(({ runs_failed }) => runs_failed), dash: DASHED },
    { label: 'cancelled', color: '--muted', values: points.map(({ runs_cancelled }) => runs_cancelled), dash: [2, 3] },
  ];
  const events: Line[] = [
    { label: 'events', color: '--accent', values: points.map((point) => point.events), fill: true },
    {
      label: 'duplicates',
      color: '--warn',
      values: points.map(({ duplicates }) => duplicates),
      dash: DASHED,
    },
  ];
  const latency = (of: (typeof LATENCIES)[number]['of']): Line[] => [
    { label: 'p50', color: '--accent', values: points.map((point) => point[of]?.p50 ?? null) },
    { label: 'p95', color: '--busy', values: points.map((point) => point[of]?.p95 ?? null), dash: DASHED },
  ];
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <ChartCard title="Events" subtitle="received per interval" {...shared} lines={events} format={wholeCount} />
      <ChartCard title="Runs" subtitle="finished per interval" {...shared} lines={runs} format={wholeCount} />
      {withLatency &&
        LATENCIES.map(({ of, ...texts }) => (
          <ChartCard key={of} {...texts} {...shared} lines={latency(of)} format={formatMilliseconds} />
        ))}
    </div>
  );
}

/** Counts are integers: ticks between them have no label. */
const wholeCount = (value: number) => (Number.isInteger(value) ? formatCount(value) : '');

function ChartCard({
  title,
  subtitle,
  ...chart
}: {
  title: string;
  subtitle: string;
  times: number[];
  unfinished: boolean;
  lines: Line[];
  format(value: number): string;
}) {
  return (
    <Card title={title} actions={<span className="text-xs text-muted">{subtitle}</span>}>
      <div className="px-3 pt-3 pb-2">
        <Chart label={`${title}, ${subtitle}`} {...chart} />
      </div>
    </Card>
  );
}
