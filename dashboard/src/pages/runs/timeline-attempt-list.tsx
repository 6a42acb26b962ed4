import { useId, useState } from 'react';
import { ErrorDetails } from '../../features/errors/error-details.tsx';
import { Icon } from '../../ui/icon.tsx';
import { duration, Time } from '../../ui/time.tsx';
import type { TimelineAttempt } from './timeline-row-data.ts';

/** Each attempt of a step: its times, and its error if it failed. */
export function AttemptList({ attempts }: { attempts: readonly TimelineAttempt[] }) {
  const lastFailed = attempts.findLastIndex(({ status }) => status === 'Failed');
  return (
    <ol aria-label="Attempts" className="divide-y divide-line rounded-md border border-line bg-surface">
      {attempts.map((attempt, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attempts are only added at the end, and numbers may repeat
        <Attempt key={i} attempt={attempt} startsOpen={i === lastFailed && i === attempts.length - 1} />
      ))}
    </ol>
  );
}

function Attempt({ attempt, startsOpen }: { attempt: TimelineAttempt; startsOpen: boolean }) {
  const { number, status, queuedMs, startedMs, endedMs, error, httpStatus } = attempt;
  const [open, setOpen] = useState(startsOpen);
  const id = useId();
  const failed = status === 'Failed';
  const head = (
    <>
      <Icon name={failed ? 'close' : 'check'} className={failed ? 'text-bad' : 'text-good'} />
      <span className="font-medium">Attempt {number + 1}</span>
      <span className="text-muted">
        {failed ? 'failed' : 'completed'}
        {httpStatus !== null && ` with status ${httpStatus}`}
      </span>
      <span className="text-muted">
        <Time at={startedMs} />
      </span>
      <span className="ml-auto text-muted tabular-nums">
        {queuedMs !== null && startedMs > queuedMs && `waited ${duration(startedMs - queuedMs)}, `}
        ran {duration(endedMs - startedMs)}
      </span>
    </>
  );
  const layout = 'flex w-full flex-wrap items-center gap-x-2 px-3 py-2 text-left text-sm';
  if (!error) return <li className={`${layout} pl-9`}>{head}</li>;
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
        className={`${layout} hover:bg-sunken`}
      >
        <Icon name={open ? 'chevron-down' : 'chevron-right'} className="text-muted" />
        {head}
      </button>
      {open && (
        <div id={id} className="px-3 pb-3 sm:pl-9">
          <ErrorDetails error={error} />
        </div>
      )}
    </li>
  );
}
