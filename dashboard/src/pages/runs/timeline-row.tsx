import { type ReactNode, useId } from 'react';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { duration, relative } from '../../ui/time.tsx';
import { GRID_COLUMNS, TimelineBars, type TimelineExtent } from './timeline-bars.tsx';
import { hasLinks, TimelineRowLinks } from './timeline-links.tsx';
import type { RowStatus, TimelineRowData } from './timeline-row-data.ts';
import { queueTime, wordsOf } from './timeline-words.ts';

const ICONS: Record<RowStatus, [icon: IconName, color: string]> = {
  Completed: ['check', 'text-good'],
  Failed: ['close', 'text-bad'],
  Cancelled: ['close', 'text-muted'],
  Waiting: ['clock', 'text-warn'],
  Running: ['play', 'text-busy'],
  Queued: ['clock', 'text-muted'],
  Retrying: ['retry', 'text-bad'],
  Retried: ['retry', 'text-warn'],
};

interface TimelineRowProps {
  row: TimelineRowData;
  extent: TimelineExtent;
  nowMs: number;
  open: boolean;
  onToggle(): void;
  /** Its details, while it is open. */
  children: ReactNode;
}

/** A row that expands to its details. Its links are beside the button that expands it, which fills the rest of the row. */
export function TimelineRow({ row, extent, nowMs, open, onToggle, children }: TimelineRowProps) {
  const detailsId = useId();
  const [icon, color] = ICONS[row.status];
  const tookMs = Math.max(0, (row.endedMs ?? nowMs) - row.startedMs);
  const queued = queueTime(row);
  return (
    <>
      <div
        className={`relative grid w-full grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-4 py-2.5 hover:bg-sunken ${GRID_COLUMNS}`}
      >
        <div className="min-w-0">
          <button
            type="button"
            aria-expanded={open}
            aria-controls={open ? detailsId : undefined}
            onClick={onToggle}
            className="flex w-full min-w-0 items-center gap-2 text-left after:absolute after:inset-0"
          >
            <Icon name={open ? 'chevron-down' : 'chevron-right'} className="text-muted" />
            <Icon name={icon} className={color} />
            <span className="line-clamp-2 min-w-0 break-words">
              <span className="font-medium">{row.name}</span>{' '}
              <span className={`text-sm ${row.status === 'Failed' ? 'text-bad' : 'text-muted'}`}>
                {wordsOf(row, nowMs)}
              </span>
            </span>
          </button>
          {(hasLinks(row) || row.request !== null) && (
            <div className="pointer-events-none relative z-10 mt-0.5 pl-12 [&_a]:pointer-events-auto">
              <TimelineRowLinks row={row} />
            </div>
          )}
        </div>
        <span className="order-3 col-span-2 mt-1 sm:order-none sm:col-span-1 sm:mt-0">
          <TimelineBars row={row} extent={extent} nowMs={nowMs} />
        </span>
        <span className="hidden text-right text-sm whitespace-nowrap text-muted tabular-nums sm:inline">
          {queued ?? <span aria-hidden="true">–</span>}
        </span>
        <span className="text-right text-sm whitespace-nowrap text-muted tabular-nums">
          {row.untilMs !== null && row.endedMs === null ? relative(row.untilMs - nowMs) : duration(tookMs)}
        </span>
      </div>
      {open && <div id={detailsId}>{children}</div>}
    </>
  );
}
