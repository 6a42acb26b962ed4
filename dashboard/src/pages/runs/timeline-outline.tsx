import type { RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { isOpen, type TimelineRowData } from './timeline-row-data.ts';
import { wordsOf } from './timeline-words.ts';

/** Maximum number of rows that are named; other rows are counted. */
const SHOWN = 3;

interface TimelineOutlineProps {
  run: RunWithHistory;
  rows: readonly TimelineRowData[];
  nowMs: number;
  onOpen(key: string): void;
}

/** Summary above the bars: what happened, what failed, and the present state of the run, each with a link to its row. */
export function TimelineOutline({ run, rows, nowMs, onOpen }: TimelineOutlineProps) {
  const steps = rows.filter(({ stepId }) => stepId !== null);
  const completed = steps.filter(({ status }) => status === 'Completed').length;
  const failed = rows.filter(({ status }) => status === 'Failed');
  const now = hasEnded(run) ? [] : rows.filter(isOpen);
  return (
    <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1 border-b border-line px-4 py-2 text-sm">
      {steps.length > 0 && (
        <span className="text-muted">
          {completed === steps.length
            ? `${count(completed)} completed`
            : `${completed} of ${count(steps.length)} completed`}
        </span>
      )}
      {failed.length > 0 && <Named title="Failed" className="text-bad" rows={failed} onOpen={onOpen} />}
      {now.length > 0 && (
        <Named title="Now" className="text-muted" rows={now} onOpen={onOpen} words={(row) => wordsOf(row, nowMs)} />
      )}
      {steps.length === 0 && failed.length === 0 && now.length === 0 && (
        <span className="text-muted">{withoutSteps(run, rows)}</span>
      )}
    </p>
  );
}

interface NamedProps {
  title: string;
  className: string;
  rows: readonly TimelineRowData[];
  words?(row: TimelineRowData): string;
  onOpen(key: string): void;
}

function Named({ title, className, rows, words, onOpen }: NamedProps) {
  return (
    <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
      <span className={`font-medium ${className}`}>{title}</span>
      {rows.slice(0, SHOWN).map((row) => (
        <button
          key={row.key}
          type="button"
          onClick={() => onOpen(row.key)}
          className="max-w-full truncate text-left text-accent hover:underline"
        >
          {row.name}
          {words && ` ${words(row)}`}
        </button>
      ))}
      {rows.length > SHOWN && <span className="text-muted">and {rows.length - SHOWN} more</span>}
    </span>
  );
}

function withoutSteps({ status }: RunWithHistory, { length }: readonly TimelineRowData[]): string {
  if (status === 'Completed') return 'Completed without steps';
  return length === 0 ? 'Cancelled before it was called' : 'Cancelled';
}

function count(steps: number): string {
  return steps === 1 ? '1 step' : `${steps} steps`;
}
