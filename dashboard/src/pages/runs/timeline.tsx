import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { Card } from '../../ui/page.tsx';
import { duration, useNow } from '../../ui/time.tsx';
import { GRID_COLUMNS, Legend } from './timeline-bars.tsx';
import { TimelineRow } from './timeline-row.tsx';
import { extentOf, rowsOf } from './timeline-rows.ts';

const ROW_HEIGHT = 45;

interface TimelineProps {
  run: RunWithHistory;
  /** Key of the expanded row. */
  open: number | undefined;
  onOpen(key: number | undefined): void;
}

/** Attempts and steps of a run over time. Only visible rows are rendered. */
export function Timeline({ run, open, onOpen }: TimelineProps) {
  const rows = useMemo(() => rowsOf(run), [run]);
  const tick = useNow();
  const nowMs = hasEnded(run) ? 0 : Math.max(tick, Date.parse(run.queued_at));
  const extent = extentOf(run, rows, nowMs);
  const list = useRef<HTMLOListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
  });
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  return (
    <Card title="Timeline" actions={<Legend rows={rows} />}>
      <Axis ms={extent.toMs - extent.fromMs} />
      <ol ref={list} aria-label="Attempts and steps" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <li
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              aria-posinset={item.index + 1}
              aria-setsize={rows.length}
              className="absolute inset-x-0 border-b border-line last:border-b-0"
              style={{ transform: `translateY(${item.start - top}px)` }}
            >
              <TimelineRow
                runId={run.run_id}
                ended={hasEnded(run)}
                row={row}
                extent={extent}
                nowMs={nowMs}
                open={open === row.key}
                onToggle={() => onOpen(open === row.key ? undefined : row.key)}
              />
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

function Axis({ ms }: { ms: number }) {
  return (
    <div
      aria-hidden="true"
      className={`hidden border-b border-line px-4 py-1.5 text-xs text-muted sm:grid ${GRID_COLUMNS}`}
    >
      <span />
      <span className="flex justify-between tabular-nums">
        <span>0</span>
        <span>{duration(ms / 2)}</span>
        <span>{duration(ms)}</span>
      </span>
      <span className="text-right">Duration</span>
    </div>
  );
}
