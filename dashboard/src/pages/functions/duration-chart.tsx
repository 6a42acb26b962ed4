import { useState } from 'react';
import type { FunctionMetrics } from '../../api/types.ts';
import { formatMilliseconds } from '../../lib/format.ts';
import { isUnfinished } from '../../lib/time-steps.ts';
import { Chart } from '../../ui/chart.tsx';
import type { Line } from '../../ui/chart-props.ts';

const DASHED = [5, 4];
const DOTTED = [2, 3];

/** How long runs took over time; drawn when it is opened. */
export function RunDurations({ metrics }: { metrics: FunctionMetrics }) {
  const [isOpen, setOpen] = useState(false);
  const { points } = metrics;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)} className="border-b border-line px-4 py-2.5">
      <summary className="cursor-pointer text-sm text-muted hover:text-text">Durations of runs over time</summary>
      {isOpen && (
        <Chart
          label="Duration of runs"
          times={points.map(({ at }) => Date.parse(at) / 1_000)}
          lines={durationLines(points)}
          format={formatMilliseconds}
          unfinished={isUnfinished(metrics)}
        />
      )}
    </details>
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
