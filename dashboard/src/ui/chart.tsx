import { lazy, Suspense } from 'react';
import type { ChartProps } from './chart-props.ts';

/** Height of the legend under the chart. */
const LEGEND_PX = 20;

const UPlot = lazy(() => import('./uplot.tsx'));

/** A chart over time, loaded when the first one is shown. Screen readers get its last values as text. */
export function Chart(props: ChartProps) {
  const { label, lines, format, height = 160, sparkline = false } = props;
  const lastOf = (values: readonly (number | null)[]) => values.findLast((value) => value !== null) ?? null;
  const summary = lines.map(({ label: name, values }) => {
    const last = lastOf(values);
    return `${name}: ${last === null ? 'no data' : format(last)}`;
  });
  return (
    <figure aria-label={label}>
      <Suspense fallback={<div style={{ height: height + (sparkline ? 0 : LEGEND_PX) }} />}>
        <UPlot {...props} height={height} />
      </Suspense>
      <figcaption className="sr-only">{summary.join('; ')}</figcaption>
    </figure>
  );
}
