import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChartProps } from './chart.tsx';

const AXIS_FONT = '11px ui-sans-serif, system-ui, sans-serif';

export default function UPlotChart({ times, lines, format, height = 160, bars = false, onBrush }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const brushed = useRef(onBrush);
  brushed.current = onBrush;
  const shape = lines.map(({ label, colour }) => `${label} ${colour}`).join();
  const data = [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  const latest = useRef({ data, lines, format });
  latest.current = { data, lines, format };
  const chart = useRef<uPlot>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew when its shape changes; new values are set below
  useEffect(() => {
    const element = host.current as HTMLElement;
    const draw = () => {
      chart.current?.destroy();
      chart.current = new uPlot(optionsOf(element.clientWidth), latest.current.data, element);
    };
    const optionsOf = (width: number): uPlot.Options => ({
      width,
      height,
      legend: { show: lines.length > 1 && !bars, live: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: !bars } },
      scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
      axes: [
        axis(),
        { ...axis(), size: 56, values: (_u, splits) => splits.map((value) => latest.current.format(value)) },
      ],
      series: [{}, ...latest.current.lines.map((line) => seriesOf(line, bars))],
      hooks: {
        setSelect: [
          (u) => {
            if (u.select.width < 2) return;
            const { left, width: across } = u.select;
            brushed.current?.(u.posToVal(left, 'x'), u.posToVal(left + across, 'x'));
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    });
    draw();
    const resized = new ResizeObserver(() => chart.current?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const rethemed = new MutationObserver(draw);
    rethemed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      rethemed.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [shape, height, bars]);

  useEffect(() => {
    chart.current?.setData(latest.current.data);
  });

  return <div ref={host} className="w-full" />;
}

function colourOf(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}

function axis(): uPlot.Axis {
  return {
    font: AXIS_FONT,
    stroke: () => colourOf('--muted'),
    grid: { stroke: () => colourOf('--line'), width: 1 },
    ticks: { show: false },
  };
}

function seriesOf({ label, colour, dash, fill }: ChartProps['lines'][number], bars: boolean): uPlot.Series {
  const stroke = colourOf(colour);
  const series: uPlot.Series = { label, stroke, width: 1.5, points: { show: false } };
  if (dash) series.dash = [...dash];
  if (fill || bars) series.fill = `color-mix(in srgb, ${stroke} ${bars ? 55 : 12}%, transparent)`;
  if (bars && uPlot.paths.bars) series.paths = uPlot.paths.bars({ size: [0.85, 40] });
  return series;
}
