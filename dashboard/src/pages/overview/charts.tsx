import type { Metrics } from '../../api/types.ts';
import { formatCount, formatMilliseconds } from '../../lib/format.ts';
import { Chart } from '../../ui/chart.tsx';
import type { Line } from '../../ui/chart-props.ts';
import { Card } from '../../ui/page.tsx';

const DASHED = [5, 4];

/** What came in and how its runs ended, and how fast both went. */
export function Charts({ metrics: { points } }: { metrics: Metrics }) {
  const times = points.map(({ at }) => Date.parse(at) / 1_000);
  const runs: Line[] = [
    { label: 'completed', color: '--good', values: points.map(({ runs_completed }) => runs_completed) },
    { label: 'failed', color: '--bad', values: points.map(({ runs_failed }) => runs_failed), dash: DASHED },
    { label: 'cancelled', color: '--muted', values: points.map(({ runs_cancelled }) => runs_cancelled), dash: [2, 3] },
  ];
  const events: Line[] = [
    { label: 'events', color: '--accent', values: points.map((point) => point.events), fill: true },
    {
      label: 'duplicates ignored',
      color: '--warn',
      values: points.map(({ duplicates }) => duplicates),
      dash: DASHED,
    },
  ];
  const latency = (of: 'ack_ms' | 'start_ms'): Line[] => [
    { label: 'p50', color: '--accent', values: points.map((point) => point[of]?.p50 ?? null) },
    { label: 'p95', color: '--busy', values: points.map((point) => point[of]?.p95 ?? null), dash: DASHED },
  ];
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <ChartCard title="Events" about="received in each step" times={times} lines={events} format={whole} />
      <ChartCard title="Runs" about="ended in each step" times={times} lines={runs} format={whole} />
      <ChartCard
        title="Acknowledgement"
        about="from a request’s arrival to its answer"
        times={times}
        lines={latency('ack_ms')}
        format={formatMilliseconds}
      />
      <ChartCard
        title="Start"
        about="from an event’s arrival to the first call of its function"
        times={times}
        lines={latency('start_ms')}
        format={formatMilliseconds}
      />
    </div>
  );
}

/** Counts have no halves: marks between them stay blank. */
const whole = (value: number) => (Number.isInteger(value) ? formatCount(value) : '');

function ChartCard({
  title,
  about,
  ...chart
}: {
  title: string;
  about: string;
  times: number[];
  lines: Line[];
  format(value: number): string;
}) {
  return (
    <Card title={title} actions={<span className="text-xs text-muted">{about}</span>}>
      <div className="px-3 pt-3 pb-2">
        <Chart label={`${title}, ${about}`} {...chart} />
      </div>
    </Card>
  );
}
