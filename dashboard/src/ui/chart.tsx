import { lazy, Suspense } from 'react';

export interface Line {
  label: string;
  /** A CSS variable's name, such as `--accent`. */
  colour: string;
  /** One per time; null where nothing is known. */
  values: readonly (number | null)[];
  /** Told from others by more than colour. */
  dash?: readonly number[];
  fill?: boolean;
}

export interface ChartProps {
  label: string;
  /** Unix seconds, ascending. */
  times: readonly number[];
  lines: readonly Line[];
  /** Writes a value. */
  format(value: number): string;
  height?: number;
  /** Drawn as bars, such as a histogram. */
  bars?: boolean;
  /** The lines alone, without axes: beside a number. */
  bare?: boolean;
  /** Called with Unix seconds when the reader has marked a span. */
  onBrush?(from: number, to: number): void;
}

/** Height of the line under the chart that names its lines. */
const READING_PX = 20;

const UPlot = lazy(() => import('./uplot.tsx'));

/** A chart over time. Its code is loaded when one is first shown; screen readers get its last values as text. */
export function Chart(props: ChartProps) {
  const { label, lines, format, height = 160, bare = false } = props;
  const lastOf = (values: readonly (number | null)[]) => values.findLast((value) => value !== null) ?? null;
  const told = lines.map(({ label: name, values }) => {
    const last = lastOf(values);
    return `${name}: ${last === null ? 'nothing yet' : format(last)}`;
  });
  return (
    <figure aria-label={label}>
      <Suspense fallback={<div style={{ height: height + (bare ? 0 : READING_PX) }} />}>
        <UPlot {...props} height={height} />
      </Suspense>
      <figcaption className="sr-only">{told.join('; ')}</figcaption>
    </figure>
  );
}
