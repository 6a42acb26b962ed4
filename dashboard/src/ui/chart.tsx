import { lazy, Suspense } from 'react';
import type { ChartProps } from './chart-props.ts';

/** Height of the line under the chart that names its lines. */
const LEGEND_PX = 20;

const UPlot = lazy(() => import('./uplot.tsx'));

/** A chart over time. Its code is loaded when one is first shown; screen readers get its last values as text. */
export function Chart(props: ChartProps) {
  const { label, lines, format, height = 160, sparkline: bare = false } = props;
  const lastOf = (values: readonly (number | null)[]) => values.findLast((value) => value !== null) ?? null;
  const told = lines.map(({ label: name, values }) => {
    const last = lastOf(values);
    return `${name}: ${last === null ? 'nothing yet' : format(last)}`;
  });
  return (
    <figure aria-label={label}>
      <Suspense fallback={<div style={{ height: height + (bare ? 0 : LEGEND_PX) }} />}>
        <UPlot {...props} height={height} />
      </Suspense>
      <figcaption className="sr-only">{told.join('; ')}</figcaption>
    </figure>
  );
}
