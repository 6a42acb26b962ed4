import { Link } from '@tanstack/react-router';
import type { ErrorGroup } from '../../api/types.ts';
import { runsOf } from '../../features/errors/error-group-line.tsx';
import { EventGist } from '../../features/lists/event-gist.tsx';
import type { ListedRun } from '../../features/runs/run.ts';
import { Id } from '../../ui/code-block.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

interface FailedRunsProps {
  group: ErrorGroup;
  /** undefined: still loading. */
  runs: readonly ListedRun[] | undefined;
  error: Error | null;
  onRetry(): void;
}

/** The last failed runs, by the events that started them. */
export function FailedRuns({ group, runs, error, onRetry }: FailedRunsProps) {
  const all = (
    <Link to="/runs" search={runsOf(group) as never} className="text-sm text-accent hover:underline">
      All failed runs
    </Link>
  );
  return (
    <Card title="Last failed runs" actions={all}>
      {error && <ErrorAlert error={error} onRetry={onRetry} />}
      {!runs && !error && <Loading rows={4} />}
      {runs?.length === 0 && <p className="p-4 text-muted">None is stored any more.</p>}
      {runs && runs.length > 0 && (
        <ul aria-label="Last failed runs" className="divide-y divide-line">
          {runs.map((run) => (
            <FailedRun key={run.run_id} run={run} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function FailedRun({ run: { run_id: id, event_name, event_gist, event_user, ended_at } }: { run: ListedRun }) {
  return (
    <li className="flex items-baseline gap-4 px-4 py-2">
      <Link to="/runs/$id" params={{ id }} title={id} className="min-w-0 flex-1 hover:text-accent hover:underline">
        {event_name === undefined ? <Id id={id} /> : <EventGist name={event_name} gist={event_gist} />}
      </Link>
      {event_user && <span className="max-w-32 truncate text-sm text-muted">{event_user}</span>}
      <span className="text-sm whitespace-nowrap text-muted">
        <Time at={ended_at} />
      </span>
    </li>
  );
}
