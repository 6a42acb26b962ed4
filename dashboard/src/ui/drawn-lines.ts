import type { Line } from './chart-props.ts';

/** `soFar`: the end of a line whose last interval has not ended. */
export interface DrawnLine extends Line {
  soFar: boolean;
}

/** The lines, and separately their unfinished ends, which are drawn differently: an interval that has just begun would look like a drop. */
export function drawnLines(lines: readonly Line[], { unfinished }: { unfinished: boolean }): DrawnLine[] {
  const whole = lines.map((line) => ({ ...line, soFar: false }));
  if (!unfinished) return whole;
  const finished = whole.map((line) => ({ ...line, values: line.values.with(-1, null) }));
  const ends = lines.map(({ fill: _, ...line }) => {
    // A line begins where the finished one ends.
    const first = line.values.length - 2;
    return { ...line, values: line.values.map((value, i) => (i >= first ? value : null)), soFar: true };
  });
  return lines.some(({ values }) => values.length === 0) ? whole : [...finished, ...ends];
}
