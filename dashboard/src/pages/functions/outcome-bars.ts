/** Bars of a function's runs by their outcome. */
import type { FunctionMetrics } from '../../api/types.ts';
import { OUTCOMES } from '../../features/runs/outcomes.ts';
import type { BarPart } from '../../ui/bar-chart.tsx';

/** More bars than these would be too thin to point at. */
const BARS_MAX = 75;
/** Lengths of bars, in seconds, that a clock has. */
const LENGTHS = [60, 300, 600, 1_800, 3_600, 10_800];

/** @returns the counts in few bars that begin at round times */
export function barsOf({ points, step_seconds: step }: Pick<FunctionMetrics, 'points' | 'step_seconds'>) {
  const most = points.length * step;
  const stepSeconds = LENGTHS.find((length) => length % step === 0 && most / length <= BARS_MAX) ?? step;
  const byStart = new Map<number, FunctionMetrics['points']>();
  for (const point of points) {
    const seconds = Date.parse(point.at) / 1_000;
    const start = seconds - (seconds % stepSeconds);
    byStart.set(start, [...(byStart.get(start) ?? []), point]);
  }
  const parts = OUTCOMES.map(([label, className]): BarPart => {
    const values = [...byStart.values()].map((some) => some.reduce((sum, point) => sum + point[label], 0));
    return { label, values, className };
  });
  return { times: [...byStart.keys()], parts, stepSeconds };
}
