import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { Marks, type PlacedMark, placeMarks } from './chart-marks.tsx';
import type { ChartProps, Line } from './chart-props.ts';
import { type DrawnLine, drawnLines } from './drawn-lines.ts';

const AXIS_FONT = '11px ui-sans-serif, system-ui, sans-serif';
const DAY_S = 86_400;
/** How values that will still grow are drawn. */
const SO_FAR_DASH = [2, 3];
const SO_FAR_PERCENT = 60;

export default function UPlotChart(props: ChartProps) {
  const { times, lines, format, unfinished = false, marks = [] } = props;
  const { height = 160, sparkline = false, onSelectRange } = props;
  const host = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [placed, setPlaced] = useState<readonly PlacedMark[]>([]);
  const selectRange = useRef(onSelectRange);
  selectRange.current = onSelectRange;
  const selectable = onSelectRange !== undefined;
  const drawn = drawnLines(lines, { unfinished });
  const shape = drawn.map(({ label, color, soFar }) => `${label} ${color} ${soFar}`).join();
  const data = [times, ...drawn.map(({ values }) => values)] as uPlot.AlignedData;
  const latest = useRef({ data, drawn, format, marks });
  latest.current = { data, drawn, format, marks };
  const chart = useRef<uPlot>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: redrawn when its shape changes; new values are set below
  useEffect(() => {
    const element = host.current as HTMLElement;
    const draw = () => {
      chart.current?.destroy();
      chart.current = new uPlot(optionsOf(element.clientWidth), latest.current.data, element);
    };
    const optionsOf = (width: number): uPlot.Options => ({
      width,
      height,
      padding: sparkline ? [4, 0, 2, 0] : [8, 20, 0, 0],
      legend: { show: false },
      cursor: {
        show: !sparkline,
        y: false,
        drag: { x: selectable, y: false, setScale: false },
        points: { size: 6 },
      },
      scales: {
        x: { time: true },
        y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
      },
      axes: [
        {
          ...axis(),
          show: !sparkline,
          size: 26,
          values: (_u, splits, _axis, _space, step) => splits.map((at) => tickLabel(at, step)),
        },
        {
          ...axis(),
          show: !sparkline,
          size: 56,
          space: 32,
          values: (_u, splits) => splits.map((value) => latest.current.format(value)),
        },
      ],
      series: [{}, ...latest.current.drawn.map(seriesOf)],
      hooks: {
        draw: [(u) => setPlaced((before) => placeMarks(u, latest.current.marks, before))],
        setCursor: [(u) => setHovered(u.cursor.idx ?? null)],
        setSelect: [
          (u) => {
            if (u.select.width < 2) return;
            const { left, width: across } = u.select;
            selectRange.current?.(u.posToVal(left, 'x'), u.posToVal(left + across, 'x'));
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    });
    draw();
    const resizeObserver = new ResizeObserver(() => chart.current?.setSize({ width: element.clientWidth, height }));
    resizeObserver.observe(element);
    const themeObserver = new MutationObserver(draw);
    themeObserver.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resizeObserver.disconnect();
      themeObserver.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [shape, height, sparkline, selectable]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: depends on the values, not on the object that holds them
  useEffect(() => {
    chart.current?.setData(latest.current.data);
  }, [times, marks, unfinished, ...lines.map(({ values }) => values)]);

  return (
    <>
      <div className="relative">
        <div ref={host} className={`w-full ${selectable ? 'cursor-crosshair' : ''}`} style={{ height }} />
        <Marks placed={placed} />
      </div>
      {!sparkline && <Legend {...props} index={hovered} />}
    </>
  );
}

/** Names of the lines, and their values at the pointer. */
function Legend({ times, lines, format, unfinished, index }: ChartProps & { index: number | null }) {
  const at = index === null ? undefined : times[index];
  return (
    <div
      className="flex min-h-5 flex-wrap items-center gap-x-4 pl-14 text-xs text-muted tabular-nums"
      aria-hidden="true"
    >
      {lines.map((line) => {
        const value = index === null ? undefined : line.values[index];
        return (
          <span key={line.label} className="inline-flex items-center gap-1.5">
            <Swatch line={line} />
            {line.label}
            {at !== undefined && <span className="text-text">{value == null ? '–' : format(value)}</span>}
          </span>
        );
      })}
      {at === undefined && unfinished && <span className="ml-auto">Dotted end: so far</span>}
      {at !== undefined && (
        <span className="ml-auto">
          {formatClock(at)}
          {unfinished && index === times.length - 1 && ', so far'}
        </span>
      )}
    </div>
  );
}

function Swatch({ line: { color, dash } }: { line: Line }) {
  return (
    <svg viewBox="0 0 16 4" className="h-1 w-4" aria-hidden="true">
      <line x1="0" y1="2" x2="16" y2="2" stroke={`var(${color})`} strokeWidth="2" strokeDasharray={dash?.join(' ')} />
    </svg>
  );
}

const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const minuteFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const secondFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const clockFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

const formatClock = (at: number) => clockFormat.format(at * 1_000);

/** Label of a tick on the time axis: the day at midnight, otherwise the time. */
function tickLabel(at: number, stepSeconds: number): string {
  const date = new Date(at * 1_000);
  const midnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (stepSeconds >= DAY_S || midnight) return dayFormat.format(date);
  return (stepSeconds < 60 ? secondFormat : minuteFormat).format(date);
}

function colorOf(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}

function axis(): uPlot.Axis {
  return {
    font: AXIS_FONT,
    stroke: () => colorOf('--muted'),
    grid: { stroke: () => colorOf('--line'), width: 1 },
    ticks: { show: false },
  };
}

/** @param color `#rrggbb`, as in theme.css: not every canvas supports `color-mix` */
const withAlpha = (color: string, percent: number) =>
  `${color}${Math.round(percent * 2.55)
    .toString(16)
    .padStart(2, '0')}`;

function seriesOf({ label, color, dash, fill, soFar }: DrawnLine): uPlot.Series {
  const stroke = soFar ? withAlpha(colorOf(color), SO_FAR_PERCENT) : colorOf(color);
  const series: uPlot.Series = { label, stroke, width: 1.5, points: { size: 4, fill: stroke, filter: isolatedPoints } };
  if (soFar) series.dash = SO_FAR_DASH;
  else if (dash) series.dash = [...dash];
  if (fill) series.fill = withAlpha(colorOf(color), soFar ? 15 : 12);
  return series;
}

/** Values without neighbors, which no line would show. */
function isolatedPoints(u: uPlot, series: number): number[] {
  const values = u.data[series] ?? [];
  return Array.from(values.keys()).filter((i) => values[i] != null && values[i - 1] == null && values[i + 1] == null);
}
