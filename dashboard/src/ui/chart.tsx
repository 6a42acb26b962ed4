import { lazy, Suspense } from 'react';
import type { ChartProps } from './chart-props.ts';
import { ChartText, summaryOf } from './chart-text.tsx';

/** Height of the legend under the chart. */
const LEGEND_PX = 20;

const UPlot = lazy(() => import('./uplot.tsx'));

/** A chart over time, loaded when the first one is shown. Its last values and marks are there as text, and all values as a table. */
export function Chart(props: ChartProps) {
  const { label, height = 160, sparkline = false } = props;
  return (
    <figure aria-label={label}>
      <Suspense fallback={<div style={{ height: height + (sparkline ? 0 : LEGEND_PX) }} />}>
        <UPlot {...props} height={height} />
      </Suspense>
      {sparkline ? <figcaption className="sr-only">{summaryOf(props)}</figcaption> : <ChartText {...props} />}
    </figure>
  );
}
