import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Card } from '../../ui/page.tsx';
import { duration, useNow } from '../../ui/time.tsx';
import { GRID_COLUMNS, Legend } from './timeline-bars.tsx';
import { GroupBracket, GroupHeading } from './timeline-group.tsx';
import { TimelineOutline } from './timeline-outline.tsx';
import { TimelineRow } from './timeline-row.tsx';
import { TimelineRowDetails } from './timeline-row-details.tsx';
import { extentOf, rowsOf } from './timeline-rows.ts';

const ROW_HEIGHT = 45;

interface TimelineProps {
  run: RunWithHistory;
  /** Key of the expanded row. */
  open: string | undefined;
  onOpen(key: string | undefined): void;
  /** Whether the calls are shown that only led from one step to the next. */
  showCalls: boolean;
  onShowCalls(shown: boolean): void;
  /** Further details of a row, such as the logs of its step. @param stepId hashed; null: the row is a call of the function itself */
  extrasOf?(stepId: string | null): ReactNode;
}

/** Steps of a run over time. Only visible rows are rendered. */
export function Timeline({ run, open, onOpen, showCalls, onShowCalls, extrasOf }: TimelineProps) {
  const all = useMemo(() => rowsOf(run), [run]);
  const rows = useMemo(() => all.filter(({ isCall }) => showCalls || !isCall), [all, showCalls]);
  const calls = all.filter(({ isCall }) => isCall).length;
  const tick = useNow();
  const ended = hasEnded(run);
  const nowMs = ended ? 0 : Math.max(tick, Date.parse(run.queued_at));
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
  const reveal = (key: string) => {
    onOpen(key);
    virtual.scrollToIndex(rows.findIndex((row) => row.key === key));
  };
  return (
    <Card
      title="Timeline"
      actions={
        <>
          <Legend rows={rows} />
          {calls > 0 && (
            <Checkbox checked={showCalls} onChange={onShowCalls}>
              Show calls ({calls})
            </Checkbox>
          )}
        </>
      }
    >
      <TimelineOutline run={run} rows={rows} nowMs={nowMs} onOpen={reveal} />
      <Axis ms={extent.toMs - extent.fromMs} />
      <ol ref={list} aria-label="Steps and attempts" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          const isOpen = open === row.key;
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
              <GroupHeading rows={rows} index={item.index} />
              <GroupBracket rows={rows} index={item.index}>
                <TimelineRow
                  row={row}
                  extent={extent}
                  nowMs={nowMs}
                  open={isOpen}
                  onToggle={() => onOpen(isOpen ? undefined : row.key)}
                >
                  <TimelineRowDetails runId={run.run_id} ended={ended} row={row}>
                    {extrasOf?.(row.stepId)}
                  </TimelineRowDetails>
                </TimelineRow>
              </GroupBracket>
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
      <span className="text-right">Queued</span>
      <span className="text-right">Duration</span>
    </div>
  );
}
