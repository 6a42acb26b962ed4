import type uPlot from 'uplot';
import type { ChartMark } from './chart-props.ts';

export interface PlacedMark extends ChartMark {
  /** From the left edge of the chart, as in CSS. */
  left: string;
  /** Whether there is more room on its left. */
  isLate: boolean;
  top: number;
  height: number | string;
}

/** @returns the previous marks if none has moved */
export function placeMarks(
  u: uPlot,
  marks: readonly ChartMark[],
  before: readonly PlacedMark[],
): readonly PlacedMark[] {
  const { min, max } = u.scales.x ?? {};
  if (min == null || max == null) return before.length === 0 ? before : [];
  const { offsetLeft, offsetTop, clientHeight } = u.over;
  const [times] = u.data;
  // The last point represents its whole interval.
  const end = max + ((times[1] ?? 0) - (times[0] ?? 0));
  const placed = marks
    .filter(({ at }) => at >= min && at <= end)
    .map((mark) => {
      const pixels = Math.round(offsetLeft + u.valToPos(Math.min(mark.at, max), 'x'));
      return { ...mark, left: `${pixels}px`, isLate: pixels > 200, top: offsetTop, height: clientHeight };
    });
  return JSON.stringify(placed) === JSON.stringify(before) ? before : placed;
}

/** Vertical lines with a flag that says what happened at that time. Screen readers get this from the chart's text. */
export function Marks({ placed }: { placed: readonly PlacedMark[] }) {
  return (
    <div aria-hidden="true">
      {placed.map(({ at, label, left, isLate, top, height }) => (
        <div
          key={`${at} ${label}`}
          data-mark={label}
          className="group pointer-events-none absolute w-0 border-l border-dashed border-busy"
          style={{ left, top, height }}
        >
          <span className="pointer-events-auto absolute -top-1 -left-1.5 size-3 rotate-45 border border-surface bg-busy" />
          <span
            className={`absolute top-3 z-10 hidden w-max max-w-64 rounded border border-line bg-surface px-2 py-1 text-xs break-words text-text shadow group-hover:block ${isLate ? 'right-1' : 'left-1'}`}
          >
            {label}
          </span>
        </div>
      ))}
    </div>
  );
}
