import { type PointerEvent, useRef, useState } from 'react';
import { Marks } from './chart-marks.tsx';
import type { ChartMark } from './chart-props.ts';
import { ChartText } from './chart-text.tsx';
import { absolute } from './time.tsx';

/** One part of each bar. */
export interface BarPart {
  /** Name of what is counted. */
  label: string;
  values: readonly number[];
  /** A fill, such as `fill-bad`. */
  className: string;
}

interface BarChartProps {
  label: string;
  /** Unix seconds at which each bar begins, ascending. */
  times: readonly number[];
  /** From the bottom to the top. */
  parts: readonly BarPart[];
  format(value: number): string;
  /** The interval of the last bar has not ended: it will grow. */
  unfinished: boolean;
  height: number;
  /** Drawn as vertical lines. */
  marks?: readonly ChartMark[];
  /** Called with Unix seconds when the user selects a range. */
  onSelectRange(from: number, to: number): void;
  /** Shown below while the pointer is not over the chart. */
  children: React.ReactNode;
}

/** Counts over time without axes: the same for two as for two million. */
export function BarChart(props: BarChartProps) {
  const { label, times, parts, format, unfinished, height, marks = [], onSelectRange, children } = props;
  const host = useRef<SVGSVGElement>(null);
  const [hovered, setHovered] = useState<number>();
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const sums = times.map((_, i) => parts.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const most = Math.max(1, ...sums);
  const count = Math.max(1, times.length);
  const [first = 0, second = first + 1] = times;
  const seconds = count * (second - first);
  const shareAt = ({ clientX }: PointerEvent) => {
    const { left, width } = (host.current as SVGSVGElement).getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  const finish = () => {
    if (drag && drag.from !== drag.to) {
      const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
      onSelectRange(first + from * seconds, first + to * seconds);
    }
    setDrag(undefined);
  };
  const shown = hovered === undefined ? undefined : times[hovered];
  return (
    <figure aria-label={label}>
      <div className="relative">
        <svg
          ref={host}
          viewBox={`0 0 ${count} 1`}
          preserveAspectRatio="none"
          className="block w-full cursor-crosshair touch-none"
          style={{ height }}
          aria-hidden="true"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setDrag({ from: shareAt(event), to: shareAt(event) });
          }}
          onPointerMove={(event) => {
            const share = shareAt(event);
            setHovered(Math.min(count - 1, Math.floor(share * count)));
            if (drag) setDrag({ ...drag, to: share });
          }}
          onPointerUp={finish}
          onPointerCancel={() => setDrag(undefined)}
          onPointerLeave={() => setHovered(undefined)}
        >
          {times.map((at, i) => (
            <g key={at} fillOpacity={unfinished && i === times.length - 1 ? 0.4 : i === hovered ? 1 : 0.75}>
              <Bar at={i} most={most} parts={parts} />
            </g>
          ))}
          {drag && (
            <rect
              x={Math.min(drag.from, drag.to) * count}
              width={Math.abs(drag.to - drag.from) * count}
              y={0}
              height={1}
              className="fill-text"
              fillOpacity={0.1}
            />
          )}
        </svg>
        <Marks placed={marks.map((mark) => placed(mark, (mark.at - first) / seconds))} />
      </div>
      <div
        className="flex min-h-5 justify-between gap-4 border-t border-line text-xs text-muted tabular-nums"
        aria-live="off"
      >
        {shown === undefined ? (
          children
        ) : (
          <>
            <span className="truncate text-text">
              {parts.map((part) => `${format(part.values[hovered as number] ?? 0)} ${part.label}`).join(', ')}
              {unfinished && hovered === times.length - 1 && ' so far'}
            </span>
            <span className="truncate">{absolute(new Date(shown * 1_000))}</span>
          </>
        )}
      </div>
      <ChartText label={label} times={times} lines={parts} format={format} unfinished={unfinished} marks={marks} />
    </figure>
  );
}

/** Even one of two million is seen. */
const LEAST_SHARE = 0.03;

function Bar({ at, most, parts }: { at: number; most: number; parts: readonly BarPart[] }) {
  let top = 1;
  return parts.map(({ label, values, className }) => {
    const value = values[at] ?? 0;
    const height = value === 0 ? 0 : Math.max(LEAST_SHARE, value / most);
    top -= height;
    return <rect key={label} x={at + 0.08} width={0.84} y={top} height={height} className={className} />;
  });
}

function placed(mark: ChartMark, share: number) {
  return { ...mark, left: `${Math.min(1, Math.max(0, share)) * 100}%`, isLate: share > 0.3, top: 0, height: '100%' };
}
