import type { RowKind, TimelineRowData } from './timeline-rows.ts';

/** The columns of the timeline's heading and of each row: what, when, how long. */
export const GRID_COLUMNS = 'sm:grid-cols-[minmax(0,20rem)_minmax(0,1fr)_5.5rem] sm:gap-x-4';

/** Unix milliseconds. */
export interface TimelineExtent {
  fromMs: number;
  toMs: number;
}

/** Told apart by shape first: full, dotted, dashed frame, frame, dashed line. */
const STYLES: Record<RowKind, string> = {
  called: 'inset-y-1 rounded-sm',
  slept: 'top-1/2 -mt-0.5 border-t-4 border-dotted border-muted',
  waited: 'inset-y-1 rounded-sm border-2 border-dashed border-warn',
  invoked: 'inset-y-1 rounded-sm border-2 border-busy',
  queued: 'top-1/2 border-t-2 border-dashed border-line-strong',
};

const FILLS: Record<TimelineRowData['status'], string> = {
  Completed: 'bg-good',
  Failed: 'bg-bad',
  Running: 'bg-busy animate-pulse',
  Waiting: 'bg-busy',
  Queued: 'bg-busy',
};

const LEGEND_LABELS: Record<RowKind, string> = {
  called: 'called',
  slept: 'slept',
  waited: 'waited for an event',
  invoked: 'waited for another run',
  queued: 'queued',
};

/** The row's time on the run's: while it was queued, and then what it did. */
export function TimelineBars({ row, extent }: { row: TimelineRowData; extent: TimelineExtent }) {
  const { queuedMs, startedMs, endedMs, kind: look, status } = row;
  return (
    <div aria-hidden="true" className="relative h-5">
      {queuedMs !== null && queuedMs < startedMs && (
        <Bar className={STYLES.queued} extent={extent} fromMs={queuedMs} toMs={startedMs} />
      )}
      <Bar
        className={`${STYLES[look]} ${look === 'called' ? FILLS[status] : ''}`}
        extent={extent}
        fromMs={startedMs}
        toMs={endedMs ?? extent.toMs}
      />
    </div>
  );
}

interface BarProps {
  className: string;
  extent: TimelineExtent;
  fromMs: number;
  toMs: number;
}

function Bar({ className, extent, fromMs, toMs }: BarProps) {
  const length = extent.toMs - extent.fromMs;
  const share = (ms: number) => Math.min(1, Math.max(0, (ms - extent.fromMs) / length)) * 100;
  const width = Math.max(0, share(toMs) - share(fromMs));
  // The shortest call can still be seen, also at the very end.
  return (
    <div
      className={`absolute min-w-1 ${className}`}
      style={{ left: `min(${share(fromMs)}%, 100% - 4px)`, width: `${width}%` }}
    />
  );
}

/** What the shapes mean that the timeline shows. */
export function Legend({ rows }: { rows: readonly TimelineRowData[] }) {
  const looks = new Set(
    rows.flatMap(({ kind: look, queuedMs }): RowKind[] => (queuedMs === null ? [look] : ['queued', look])),
  );
  const shown = (Object.keys(LEGEND_LABELS) as RowKind[]).filter((look) => looks.has(look));
  return (
    <ul aria-label="What the bars mean" className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {shown.map((look) => (
        <li key={look} className="flex items-center gap-1.5">
          <span className="relative inline-block h-4 w-6">
            <span className={`absolute inset-x-0 ${STYLES[look]} ${look === 'called' ? 'bg-good' : ''}`} />
          </span>
          {LEGEND_LABELS[look]}
        </li>
      ))}
    </ul>
  );
}
