import { Link } from '@tanstack/react-router';
import type { FunctionMetrics } from '../../api/types.ts';
import { formatCount, formatMilliseconds, formatPercent } from '../../lib/format.ts';
import { Chart } from '../../ui/chart.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import { durationLines, RunDurations } from './duration-chart.tsx';
import { useMetrics } from './use-metrics.ts';

type Step = FunctionMetrics['steps'][number];

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

/** A phone has room for one percentile. */
const shown = (name: string) => (name === 'p50' || name === 'p99' ? 'hidden sm:table-cell last:pr-4' : '');

/** The steps of a function with the percentiles of their durations; the selected one also over time. */
export function Steps({ functionId }: { functionId: string }) {
  const { metrics, step: selected } = useMetrics(functionId);
  if (!metrics || metrics.total.started === 0) return null;
  const { steps } = metrics;
  return (
    <Card title="Durations and steps" actions={<span className="text-xs text-muted">each attempt counts</span>}>
      <RunDurations metrics={metrics} />
      <div className="overflow-x-auto">
        <table className="w-full text-left">
          <caption className="sr-only">Steps of the function in the time range</caption>
          <thead className="text-xs text-muted">
            <tr>
              <th scope="col" className="px-4 py-2 font-medium">
                Step
              </th>
              {['Ended', 'Failed', ...PERCENTILES].map((name) => (
                <th key={name} scope="col" className={`px-2 py-2 text-right font-medium ${shown(name)}`}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map((step) => (
              <Row key={step.name ?? ''} step={step} isSelected={step.name === selected} metrics={metrics} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Row({ step, isSelected, metrics }: { step: Step; isSelected: boolean; metrics: FunctionMetrics }) {
  const { name, count, failed, duration_ms: duration } = step;
  return (
    <>
      <tr className="border-t border-line align-baseline">
        <td className="px-4 py-2">
          {name === null ? (
            <span className="text-muted">Other steps</span>
          ) : (
            <Link
              to="."
              search={(before: Record<string, unknown>) =>
                ({ ...before, step: isSelected ? undefined : name }) as never
              }
              replace
              resetScroll={false}
              aria-expanded={isSelected}
              title="Durations over time"
              className="inline-flex max-w-40 items-center gap-1.5 text-left break-all hover:text-accent hover:underline sm:max-w-md"
            >
              <Icon name="chevron-right" className={`size-3! shrink-0 text-muted ${isSelected ? 'rotate-90' : ''}`} />
              {name}
            </Link>
          )}
        </td>
        <td className="px-2 py-2 text-right tabular-nums">{formatCount(count)}</td>
        <td className={`px-2 py-2 text-right tabular-nums ${failed > 0 ? 'font-medium text-bad' : 'text-muted'}`}>
          {failed > 0 ? `${formatCount(failed)} (${formatPercent(failed / count)})` : '0'}
        </td>
        {PERCENTILES.map((name) => (
          <td key={name} className={`px-2 py-2 text-right whitespace-nowrap tabular-nums ${shown(name)}`}>
            {duration ? formatMilliseconds(duration[name]) : '–'}
          </td>
        ))}
      </tr>
      {isSelected && (
        <tr>
          <td colSpan={6} className="px-3 pb-2">
            <StepChart step={step} metrics={metrics} />
          </td>
        </tr>
      )}
    </>
  );
}

/** Time steps in which the step did not end have no value. */
function StepChart({ step: { name, series }, metrics }: { step: Step; metrics: FunctionMetrics }) {
  const stepMs = metrics.series_seconds * 1_000;
  const first = Math.floor(Date.parse(metrics.from) / stepMs);
  const last = Math.ceil(Date.parse(metrics.to) / stepMs);
  const times = Array.from({ length: last - first }, (_, i) => (first + i) * stepMs);
  const byTime = new Map(series?.map((point) => [Date.parse(point.at), point]));
  const points = times.map((at) => ({ duration_ms: byTime.get(at)?.duration_ms ?? null }));
  return (
    <Chart
      label={`Duration of the step ${name}`}
      times={times.map((at) => at / 1_000)}
      lines={durationLines(points)}
      format={formatMilliseconds}
      height={120}
      unfinished={last * stepMs > Date.parse(metrics.to)}
    />
  );
}
