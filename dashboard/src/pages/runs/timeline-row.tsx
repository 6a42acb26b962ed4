import { useId } from 'react';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { duration, relative } from '../../ui/time.tsx';
import { GRID_COLUMNS, TimelineBars, type TimelineExtent } from './timeline-bars.tsx';
import { TimelineRowDetails } from './timeline-row-details.tsx';
import type { TimelineRowData } from './timeline-rows.ts';

const ICONS: Record<TimelineRowData['status'], [icon: IconName, color: string]> = {
  Completed: ['check', 'text-good'],
  Failed: ['close', 'text-bad'],
  Cancelled: ['close', 'text-muted'],
  Waiting: ['clock', 'text-warn'],
  Running: ['play', 'text-busy'],
  Queued: ['clock', 'text-muted'],
};

interface TimelineRowProps {
  runId: string;
  /** Whether the run has ended. */
  ended: boolean;
  row: TimelineRowData;
  extent: TimelineExtent;
  nowMs: number;
  open: boolean;
  onToggle(): void;
}

/** A row that expands to its details. */
export function TimelineRow({ runId, ended, row, extent, nowMs, open, onToggle }: TimelineRowProps) {
  const detailsId = useId();
  const [icon, color] = ICONS[row.status];
  const tookMs = Math.max(0, (row.endedMs ?? nowMs) - row.startedMs);
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? detailsId : undefined}
        onClick={onToggle}
        className={`grid w-full grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-4 py-2.5 text-left hover:bg-sunken ${GRID_COLUMNS}`}
      >
        <span className="flex min-w-0 items-center gap-2">
          <Icon name={open ? 'chevron-down' : 'chevron-right'} className="text-muted" />
          <Icon name={icon} className={color} />
          <span className="min-w-0 truncate">
            <span className="font-medium">{row.name}</span> <span className="text-sm text-muted">{summaryOf(row)}</span>
          </span>
        </span>
        <span className="order-3 col-span-2 mt-1 sm:order-none sm:col-span-1 sm:mt-0">
          <TimelineBars row={row} extent={extent} />
        </span>
        <span className="text-right text-sm whitespace-nowrap tabular-nums text-muted">
          {row.untilMs !== null && row.endedMs === null ? relative(row.untilMs - nowMs) : duration(tookMs)}
        </span>
      </button>
      {open && (
        <div id={detailsId}>
          <TimelineRowDetails runId={runId} ended={ended} row={row} />
        </div>
      )}
    </>
  );
}

/** The row in words, in addition to color and shape. */
function summaryOf({ kind, status, attempt, untilMs, waitsFor, timedOut }: TimelineRowData): string {
  if (status === 'Cancelled') return 'cancelled';
  const awaited = waitsFor === null ? '' : ` ${waitsFor}`;
  if (kind === 'slept') return status === 'Waiting' ? 'sleeping' : 'slept';
  if (kind === 'waited') {
    return status === 'Waiting' ? `waiting for event${awaited}` : timedOut ? 'timed out' : `received event${awaited}`;
  }
  if (kind === 'signaled') {
    return status === 'Waiting' ? `waiting for signal${awaited}` : timedOut ? 'timed out' : `received signal${awaited}`;
  }
  if (kind === 'requested') {
    const attempts = attempt === null ? '' : ` on attempt ${attempt + 1}`;
    return status === 'Waiting'
      ? 'requesting'
      : status === 'Failed'
        ? `request failed${attempts}`
        : 'received response';
  }
  if (kind === 'invoked') {
    return status === 'Waiting'
      ? 'waiting for invoked function'
      : status === 'Failed'
        ? 'invoked function failed'
        : 'invoked';
  }
  if (kind === 'deferred') return 'deferred until the end';
  if (kind === 'queued') return untilMs === null ? 'queued' : 'waiting';
  if (status === 'Running') return 'running';
  const suffix = attempt === null || attempt === 0 ? '' : ` on attempt ${attempt + 1}`;
  return status === 'Failed' ? `failed${suffix}` : `completed${suffix}`;
}
