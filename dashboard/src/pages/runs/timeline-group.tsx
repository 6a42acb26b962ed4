import type { ReactNode } from 'react';
import { duration } from '../../ui/time.tsx';
import type { TimelineRowData } from './timeline-row-data.ts';

interface GroupProps {
  rows: readonly TimelineRowData[];
  index: number;
}

/** Above the first of several steps that were planned together. */
export function GroupHeading({ rows, index }: GroupProps) {
  const group = groupAt(rows, index);
  if (group === null || groupAt(rows, index - 1) === group) return null;
  const members = rows.filter((row) => row.group === group);
  const fromMs = Math.min(...members.map(({ queuedMs, startedMs }) => Math.min(queuedMs ?? startedMs, startedMs)));
  const ends = members.map(({ endedMs }) => endedMs);
  const took = ends.includes(null) ? '' : `, ${duration(Math.max(...(ends as number[])) - fromMs)} together`;
  return (
    <p className="px-4 pt-2 text-xs text-muted">
      {members.length} steps in parallel{took}
    </p>
  );
}

/** Draws the bracket at the left of a row of the group. */
export function GroupBracket({ rows, index, children }: GroupProps & { children: ReactNode }) {
  const group = groupAt(rows, index);
  const isFirst = groupAt(rows, index - 1) !== group;
  const isLast = groupAt(rows, index + 1) !== group;
  return (
    <div className="relative">
      {group !== null && (
        <span
          aria-hidden="true"
          className={`absolute left-1.5 w-1.5 border-l-2 border-line-strong ${isFirst ? 'top-2 rounded-tl border-t-2' : 'top-0'} ${isLast ? 'bottom-2 rounded-bl border-b-2' : '-bottom-px'}`}
        />
      )}
      {children}
    </div>
  );
}

function groupAt(rows: readonly TimelineRowData[], index: number): number | null {
  return rows[index]?.group ?? null;
}
