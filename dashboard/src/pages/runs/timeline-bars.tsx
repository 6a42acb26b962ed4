import { absolute, duration } from '../../ui/time.tsx';
import { type Stretch, stretchesOf } from './timeline-attempts.ts';
import type { RowKind, TimelineRowData } from './timeline-row-data.ts';

/** Columns of the timeline: name, bar, queue time, duration. */
export const GRID_COLUMNS = 'sm:grid-cols-[minmax(0,20rem)_minmax(0,1fr)_4.5rem_5.5rem] sm:gap-x-4';

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
  queued: 'inset-y-1.5 rounded-sm bg-line-strong',
  backed_off: 'top-1/2 -mt-px border-t-2 border-dashed border-bad',
};

const LOOKS: Record<Stretch['kind'], [title: string, className: string]> = {
  Completed: ['Completed', `${STYLES.called} bg-good`],
  Failed: ['Failed', `${STYLES.called} bg-bad`],
  Running: ['Running', `${STYLES.called} bg-busy animate-pulse`],
  Queued: ['Waited for its turn', STYLES.queued],
  BackOff: ['Delay before the retry', STYLES.backed_off],
};

const LEGEND_LABELS: Record<RowKind, string> = {
  called: 'ran',
  queued: 'waited for its turn',
  backed_off: 'delay before a retry',
  slept: 'slept',
  waited: 'waited for an event',
  signaled: 'waited for a signal',
  invoked: 'waited for an invoked function',
  requested: 'requested by the service',
  deferred: 'deferred a function',
};

interface TimelineBarsProps {
  row: TimelineRowData;
  extent: TimelineExtent;
  nowMs: number;
}

/** Waiting and working, relative to the run. */
export function TimelineBars({ row, extent, nowMs }: TimelineBarsProps) {
  return (
    <div aria-hidden="true" className="relative h-5">
      {barsOf(row).map(({ fromMs, toMs, className, title }) => (
        <Bar
          key={fromMs}
          className={className}
          extent={extent}
          fromMs={fromMs}
          toMs={toMs ?? nowMs}
          title={`${title}: ${duration((toMs ?? nowMs) - fromMs)}, from ${absolute(new Date(fromMs))}`}
        />
      ))}
    </div>
  );
}

interface BarData {
  fromMs: number;
  /** null: until now. */
  toMs: number | null;
  className: string;
  title: string;
}

function barsOf(row: TimelineRowData): BarData[] {
  const { kind, startedMs, endedMs, untilMs, status } = row;
  if (kind === 'called') return stretchesOf(row).map(toBar);
  const toMs = status === 'Retrying' ? untilMs : endedMs;
  const whole = { fromMs: startedMs, toMs, className: STYLES[kind], title: LEGEND_LABELS[kind] };
  const failed = stretchesOf(row).filter((stretch) => stretch.kind === 'Failed');
  return [...(kind === 'requested' ? failed.map(toBar) : []), whole];
}

function toBar({ fromMs, toMs, kind }: Stretch): BarData {
  const [title, className] = LOOKS[kind];
  return { fromMs, toMs, className, title };
}

interface BarProps {
  className: string;
  title: string;
  extent: TimelineExtent;
  fromMs: number;
  toMs: number;
}

function Bar({ className, title, extent, fromMs, toMs }: BarProps) {
  const length = extent.toMs - extent.fromMs;
  const position = (ms: number) => Math.min(1, Math.max(0, (ms - extent.fromMs) / length)) * 100;
  const width = Math.max(0, position(toMs) - position(fromMs));
  // Even the shortest call stays visible, also at the end.
  return (
    <div
      title={title || undefined}
      className={`absolute min-w-1 ${className}`}
      style={{ left: `min(${position(fromMs)}%, 100% - 4px)`, width: `${width}%` }}
    />
  );
}

/** Legend for the shapes in this timeline. */
export function Legend({ rows }: { rows: readonly TimelineRowData[] }) {
  const kinds = new Set(rows.flatMap((row): RowKind[] => [row.kind, ...stretchesOf(row).flatMap(waitOf)]));
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

function waitOf({ kind }: Stretch): RowKind[] {
  if (kind === 'BackOff') return ['backed_off'];
  return kind === 'Queued' ? ['queued'] : [];
}
