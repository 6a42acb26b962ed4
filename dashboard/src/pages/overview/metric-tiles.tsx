import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Metrics, Overview } from '../../api/types.ts';
import { currentRate, elapsedSeconds, failureRate, perSecond, total } from '../../features/metrics/metrics.ts';
import { LONG_WAIT_MS, longestWaitMs } from '../../features/metrics/queue-waits.ts';
import { formatCount, formatPercent, formatRate } from '../../lib/format.ts';
import { isUnfinished } from '../../lib/time-steps.ts';
import { Chart } from '../../ui/chart.tsx';
import { duration, useNow } from '../../ui/time.tsx';

/** Runs fail: a share that is worth red, as that of the alert about a function. */
const FAILING_SHARE = 0.2;

/** Key metrics, each with a sparkline. */
export function MetricTiles({ metrics, overview }: { metrics: Metrics; overview: Overview | undefined }) {
  const { points } = metrics;
  const times = points.map(({ at }) => Date.parse(at) / 1_000);
  const seconds = elapsedSeconds(metrics);
  const failed = total(points, 'runs_failed');
  const failing = failureRate(total(points, 'runs_completed'), failed);
  const rates = (counter: 'events' | 'runs_started') =>
    points.map((point, index) => perSecond(point[counter], seconds[index] ?? 1));
  const spark = { times, height: 48, sparkline: true, unfinished: isUnfinished(metrics) };
  return (
    <div className="grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-4">
      <Tile
        label="Events per second"
        value={formatRate(currentRate(metrics, 'events'))}
        note={`now, ${formatCount(total(points, 'events'))} total`}
      >
        <Chart
          {...spark}
          label="Events per second over time"
          format={formatRate}
          lines={[{ label: 'Events per second', color: '--accent', values: rates('events'), fill: true }]}
        />
      </Tile>
      <Tile
        label="Runs per second"
        value={formatRate(currentRate(metrics, 'runs_started'))}
        note={`now, ${formatCount(total(points, 'runs_started'))} started`}
      >
        <Chart
          {...spark}
          label="Runs per second over time"
          format={formatRate}
          lines={[{ label: 'Runs per second', color: '--accent', values: rates('runs_started'), fill: true }]}
        />
      </Tile>
      <Tile
        label="Failure rate"
        value={failing === null ? '–' : formatPercent(failing)}
        tone={failing !== null && failing >= FAILING_SHARE ? 'text-bad' : ''}
        note={
          failed > 0 ? (
            <Link to="/runs" search={{ status: 'Failed' }} className="text-accent underline">
              {formatCount(failed)} {failed === 1 ? 'run' : 'runs'} failed
            </Link>
          ) : (
            'No failed runs'
          )
        }
      >
        <Chart
          {...spark}
          label="Failure rate over time"
          format={formatPercent}
          lines={[
            {
              label: 'Failure rate',
              color: '--bad',
              values: points.map(({ runs_completed, runs_failed }) => failureRate(runs_completed, runs_failed)),
              fill: true,
            },
          ]}
        />
      </Tile>
      <OldestJob queues={overview?.queues} />
    </div>
  );
}

function Tile({
  label,
  value,
  note,
  tone = '',
  children,
}: {
  label: string;
  value: ReactNode;
  note: ReactNode;
  tone?: string;
  children?: ReactNode;
}) {
  return (
    <section className="flex flex-col overflow-hidden rounded-lg border border-line bg-surface" aria-label={label}>
      <div className="px-4 pt-3">
        <h2 className="text-sm text-muted">{label}</h2>
        <p className={`mt-1 text-xl font-semibold tracking-tight tabular-nums ${tone}`}>{value}</p>
        <p className="text-xs text-muted">{note}</p>
      </div>
      <div className="mt-3 min-h-12">{children}</div>
    </section>
  );
}

function OldestJob({ queues }: { queues: Overview['queues'] | undefined }) {
  const now = useNow();
  const waitedMs = longestWaitMs(queues ?? [], now);
  const of = (state: 'waiting' | 'active') => (queues ?? []).reduce((sum, queue) => sum + queue[state], 0);
  return (
    <Tile
      label="Oldest waiting job"
      value={queues === undefined ? '–' : waitedMs === undefined ? 'None' : duration(waitedMs)}
      tone={waitedMs !== undefined && waitedMs > LONG_WAIT_MS ? 'text-warn' : ''}
      note={
        <Link to="/jobs" className="text-accent underline">
          {formatCount(of('waiting'))} waiting, {formatCount(of('active'))} active
        </Link>
      }
    />
  );
}
