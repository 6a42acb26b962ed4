import { type PointerEvent, useRef, useState } from 'react';
import { ChartText } from './chart-text.tsx';
import { absolute } from './time.tsx';

interface BarChartProps {
  label: string;
  /** Name of the counted objects. */
  unit: string;
  /** Unix seconds at which each bar begins, ascending. */
  times: readonly number[];
  values: readonly number[];
  format(value: number): string;
  /** The interval of the last bar has not ended: it will grow. */
  unfinished: boolean;
  height: number;
  /** Called with Unix seconds when the user selects a range. */
  onSelectRange(from: number, to: number): void;
  /** Shown below while the pointer is not over the chart. */
  children: React.ReactNode;
}

/** Counts over time without axes: small enough for pages that have nothing else to draw. */
export function BarChart(props: BarChartProps) {
  const { label, unit, times, values, format, unfinished, height, onSelectRange, children } = props;
  const host = useRef<SVGSVGElement>(null);
  const [hovered, setHovered] = useState<number>();
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const most = Math.max(1, ...values);
  const count = Math.max(1, times.length);
  const shareAt = ({ clientX }: PointerEvent) => {
    const { left, width } = (host.current as SVGSVGElement).getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  const timeAt = (share: number) => {
    const [first = 0, second = first + 1] = times;
    return first + share * count * (second - first);
  };
  const finish = () => {
    if (drag && drag.from !== drag.to) {
      const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
      onSelectRange(timeAt(from), timeAt(to));
    }
    setDrag(undefined);
  };
  const shown = hovered === undefined ? undefined : times[hovered];
  return (
    <figure aria-label={label}>
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
        {values.map((value, i) => (
          <rect
            key={times[i]}
            x={i + 0.08}
            width={0.84}
            y={1 - value / most}
            height={value / most}
            className="fill-accent"
            fillOpacity={unfinished && i === values.length - 1 ? 0.25 : i === hovered ? 0.9 : 0.6}
          />
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
      <div
        className="flex min-h-5 justify-between gap-4 border-t border-line text-xs text-muted tabular-nums"
        aria-live="off"
      >
        {shown === undefined ? (
          children
        ) : (
          <>
            <span className="text-text">
              {format(values[hovered as number] ?? 0)} {unit}
              {unfinished && hovered === values.length - 1 && ' so far'}
            </span>
            <span>{absolute(new Date(shown * 1_000))}</span>
          </>
        )}
      </div>
      <ChartText
        label={label}
        times={times}
        lines={[{ label: unit, values }]}
        format={format}
        unfinished={unfinished}
      />
    </figure>
  );
}
