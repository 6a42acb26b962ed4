import { useId } from 'react';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { duration, relative } from '../../ui/time.tsx';
import { GRID_COLUMNS, TimelineBars, type TimelineExtent } from './timeline-bars.tsx';
import { TimelineRowDetails } from './timeline-row-details.tsx';
import type { TimelineRowData } from './timeline-rows.ts';

const ICONS: Record<TimelineRowData['status'], [icon: IconName, colour: string]> = {
  Completed: ['check', 'text-good'],
  Failed: ['cross', 'text-bad'],
  Waiting: ['clock', 'text-warn'],
  Running: ['play', 'text-busy'],
  Queued: ['clock', 'text-muted'],
};

interface TimelineRowProps {
  runId: string;
  row: TimelineRowData;
  extent: TimelineExtent;
  nowMs: number;
  open: boolean;
  onToggle(): void;
}

/** A line that opens to what is known of it. */
export function TimelineRow({ runId, row, extent, nowMs, open, onToggle }: TimelineRowProps) {
  const detailsId = useId();
  const [icon, colour] = ICONS[row.status];
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
          <Icon name={open ? 'down' : 'right'} className="text-muted" />
          <Icon name={icon} className={colour} />
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
          <TimelineRowDetails runId={runId} row={row} />
        </div>
      )}
    </>
  );
}

/** What it did, in words: colour and shape say it again. */
function summaryOf({ kind: look, status, attempt, untilMs, timedOut }: TimelineRowData): string {
  if (look === 'slept') return status === 'Waiting' ? 'sleeps' : 'slept';
  if (look === 'waited') {
    return status === 'Waiting'
      ? 'waits for this event'
      : timedOut
        ? 'waited, and it did not come'
        : 'waited, and it came';
  }
  if (look === 'invoked') {
    return status === 'Waiting' ? 'waits for the invoked run' : status === 'Failed' ? 'invoked, and failed' : 'invoked';
  }
  if (look === 'queued') return untilMs === null ? 'queued' : 'waits';
  if (status === 'Running') return 'is being called';
  const nth = attempt === null || attempt === 0 ? '' : ` on try ${attempt + 1}`;
  return status === 'Failed' ? `failed${nth}` : `called${nth}`;
}
