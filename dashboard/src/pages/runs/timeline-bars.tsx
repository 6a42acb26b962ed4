import type { RowKind, TimelineRowData } from './timeline-rows.ts';

/** Columns of the timeline: name, bar, duration. */
export const GRID_COLUMNS = 'sm:grid-cols-[minmax(0,20rem)_minmax(0,1fr)_5.5rem] sm:gap-x-4';

/** Unix milliseconds. */
export interface TimelineExtent {
  fromMs: number;
  toMs: number;
}

/** Kinds differ in shape, not only in color. */
const STYLES: Record<RowKind, string> = {
  called: 'inset-y-1 rounded-sm',
  slept: 'top-1/2 -mt-0.5 border-t-4 border-dotted border-muted',
  waited: 'inset-y-1 rounded-sm border-2 border-dashed border-warn',
  signaled: 'inset-y-1 rounded-sm border-2 border-dotted border-warn',
  invoked: 'inset-y-1 rounded-sm border-2 border-busy',
  requested: 'inset-y-1 rounded-sm border-2 border-double border-busy',
  deferred: 'inset-y-1 rounded-sm border-2 border-muted',
  queued: 'top-1/2 border-t-2 border-dashed border-line-strong',
};

const FILLS: Record<TimelineRowData['status'], string> = {
  Completed: 'bg-good',
  Failed: 'bg-bad',
  Cancelled: 'bg-line-strong',
  Running: 'bg-busy animate-pulse',
  Waiting: 'bg-busy',
  Queued: 'bg-busy',
};

const LEGEND_LABELS: Record<RowKind, string> = {
  called: 'called',
  slept: 'slept',
  waited: 'waited for an event',
  signaled: 'waited for a signal',
  invoked: 'waited for an invoked function',
  requested: 'requested by the service',
  deferred: 'deferred a function',
  queued: 'queued',
};

/** Queue time and the time after it, relative to the run. */
export function TimelineBars({ row, extent }: { row: TimelineRowData; extent: TimelineExtent }) {
  const { queuedMs, startedMs, endedMs, kind, status } = row;
  return (
    <div aria-hidden="true" className="relative h-5">
      {queuedMs !== null && queuedMs < startedMs && (
        <Bar className={STYLES.queued} extent={extent} fromMs={queuedMs} toMs={startedMs} />
      )}
      <Bar
        className={`${STYLES[kind]} ${kind === 'called' ? FILLS[status] : ''}`}
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
  const position = (ms: number) => Math.min(1, Math.max(0, (ms - extent.fromMs) / length)) * 100;
  const width = Math.max(0, position(toMs) - position(fromMs));
  // Even the shortest call stays visible, also at the end.
  return (
    <div
      className={`absolute min-w-1 ${className}`}
      style={{ left: `min(${position(fromMs)}%, 100% - 4px)`, width: `${width}%` }}
    />
  );
}

/** Legend for the shapes in this timeline. */
export function Legend({ rows }: { rows: readonly TimelineRowData[] }) {
  const kinds = new Set(
    rows.flatMap(({ kind, queuedMs }): RowKind[] => (queuedMs === null ? [kind] : ['queued', kind])),
  );
  const shown = (Object.keys(LEGEND_LABELS) as RowKind[]).filter((kind) => kinds.has(kind));
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {shown.map((kind) => (
        <li key={kind} className="flex items-center gap-1.5">
          <span className="relative inline-block h-4 w-6">
            <span className={`absolute inset-x-0 ${STYLES[kind]} ${kind === 'called' ? 'bg-good' : ''}`} />
          </span>
          {LEGEND_LABELS[kind]}
        </li>
      ))}
    </ul>
  );
}
