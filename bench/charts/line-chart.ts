/** A line chart of values over time, each line with its name at the end. */

import type { Series } from '../results.ts';
import { max, type Point } from '../statistics.ts';
import { formatNumber } from '../table.ts';
import { line, point, svg, text } from './svg.ts';

const WIDTH = 800;
const HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [88, 180, 48, 36];
const TICKS = 4;

export function lineChart(title: string, { unit, lines }: Series, limit?: number): string {
  const drawnLines = lines.filter(({ points }) => points.length > 0);
  const most = niceMax(Math.max(limit ?? 0, ...drawnLines.map(({ points }) => max(points))));
  const seconds = Math.max(1, ...drawnLines.map(({ points }) => points.at(-1)?.[0] ?? 0));
  const x = (at: number) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / seconds;
  const y = (value: number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / most;
  const grid = Array.from({ length: TICKS + 1 }, (_, i) => (most * i) / TICKS).flatMap((value) => [
    line(LEFT, y(value), WIDTH - RIGHT, y(value), 'grid'),
    text(LEFT - 8, y(value) + 4, `${formatNumber(value)} ${unit}`.trim(), 'small', 'end'),
  ]);
  const times = [0, seconds / 2, seconds].map((at) =>
    text(x(at), HEIGHT - 14, `${Math.round(at)} s`, 'small', 'middle'),
  );
  const marks = limit === undefined ? [] : [line(LEFT, y(limit), WIDTH - RIGHT, y(limit), 'wanted')];
  const labels = spreadLabels(drawnLines.map(({ points }) => y((points.at(-1) as Point)[1])));
  const paths = drawnLines.flatMap(({ name, points }, i) => {
    const path = points.map(([at, value]) => `${point(x(at))},${point(y(value))}`).join(' ');
    return [
      `<polyline class="line line-${i % 4}" points="${path}"/>`,
      text(WIDTH - RIGHT + 8, (labels[i] as number) + 4, name, 'small'),
    ];
  });
  const body = [...grid, ...times, ...marks, ...paths].join('\n');
  const description =
    drawnLines.map(inWords(unit)).join(' ') + (limit === undefined ? '' : ` Target: at most ${limit} ${unit}.`);
  return svg({ title, description, width: WIDTH, height: HEIGHT, body });
}

/** Moves overlapping labels down. */
function spreadLabels(ys: readonly number[]): number[] {
  const placed = [...ys];
  const order = [...ys.keys()].sort((a, b) => (ys[a] as number) - (ys[b] as number));
  for (const [rank, i] of order.entries()) {
    const above = rank === 0 ? Number.NEGATIVE_INFINITY : (placed[order[rank - 1] as number] as number);
    placed[i] = Math.max(ys[i] as number, above + 14);
  }
  return placed;
}

/** 1, 2, 4 or 5 times a power of ten, so that quarters of it are short numbers. */
function niceMax(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return power * ([1, 2, 4, 5, 10].find((step) => step * power >= most) ?? 10);
}

function inWords(unit: string) {
  return ({ name, points }: { name: string; points: readonly Point[] }) => {
    const [first, last] = [points[0], points.at(-1)] as [Point, Point];
    const told = (value: number) => `${formatNumber(value)} ${unit}`.trim();
    return `${name}: ${told(first[1])} at the start, ${told(last[1])} after ${Math.round(last[0])} s, ${told(max(points))} maximum.`;
  };
}
