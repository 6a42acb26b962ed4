import { Link } from '@tanstack/react-router';
import type { FunctionDetails } from '../../api/types.ts';
import { RunStatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';

type Trigger = FunctionDetails['triggers'][number];

/** Next ticks of a schedule in its time zone, and the run of its last tick. */
export function Schedule({ trigger }: { trigger: Trigger }) {
  const { next_run_at, next_ticks: ticks = [], time_zone, last_tick, jitter, missed_ticks: missed = [] } = trigger;
  return (
    <div className="mt-1 space-y-1 text-sm text-muted">
      <p>
        {next_run_at ? (
          <>
            Next run <Time at={next_run_at} />
          </>
        ) : (
          'No next run'
        )}
        {jitter && `, up to ${jitter} later`}
      </p>
      {ticks.length > 0 && (
        <details>
          <summary className="w-fit cursor-pointer rounded hover:text-text">Next {ticks.length} times</summary>
          <ol aria-label="Next times" className="mt-1 space-y-0.5 tabular-nums">
            {ticks.map((at) => (
              <li key={at}>{inZone(at, time_zone ?? undefined)}</li>
            ))}
          </ol>
        </details>
      )}
      {last_tick && (
        <p className="flex flex-wrap items-center gap-x-1.5">
          <span>
            Last time <Time at={last_tick.at} />
            {last_tick.run ? ':' : ': no run'}
          </span>
          {last_tick.run && (
            <Link
              to="/runs/$id"
              params={{ id: last_tick.run.run_id }}
              className="inline-flex items-center gap-1.5 text-accent underline"
            >
              <RunStatusBadge status={last_tick.run.status} /> run
            </Link>
          )}
        </p>
      )}
      {missed.length > 0 && (
        <details>
          <summary className="w-fit cursor-pointer rounded hover:text-text">Missed times</summary>
          <ol aria-label="Missed times" className="mt-1 space-y-0.5 tabular-nums">
            {missed.map(({ first, last, count }) => (
              <li key={first}>
                {count === 1
                  ? inZone(first, time_zone ?? undefined)
                  : `${count ?? 'more than 1,000'} from ${inZone(first, time_zone ?? undefined)} to ${inZone(last, time_zone ?? undefined)}`}
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

/** In the time zone of the schedule, or in that of the browser for a schedule at intervals, which has none. */
function inZone(at: string, timeZone: string | undefined): string {
  const format = new Intl.DateTimeFormat(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
    ...(timeZone !== undefined && { timeZone }),
  });
  const text = format.format(new Date(at));
  return timeZone === undefined || timeZone === 'UTC' ? text : `${text} (${timeZone})`;
}
