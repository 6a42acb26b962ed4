import { Link } from '@tanstack/react-router';
import { EventGist } from '../../features/lists/event-gist.tsx';
import type { ListedRun } from '../../features/runs/run.ts';
import { RunDuration } from '../../features/runs/run-duration.tsx';
import { RunStateBadge } from '../../features/runs/run-state-badge.tsx';
import type { useRuns } from '../../features/runs/use-runs.ts';
import { Id } from '../../ui/code-block.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

/** The latest runs of a function, live. */
export function RecentRuns({ functionId, list }: { functionId: string; list: ReturnType<typeof useRuns> }) {
  const { runs, result } = list;
  const all = (
    <Link to="/runs" search={{ function: functionId } as never} className="text-sm text-accent hover:underline">
      All runs
    </Link>
  );
  return (
    <Card title="Recent runs" actions={all}>
      {result.isPending && <Loading rows={4} />}
      {result.isError && runs.length === 0 && <ErrorAlert error={result.error} />}
      {result.isSuccess && runs.length === 0 && (
        <p className="px-4 py-8 text-center text-muted">
          No runs yet. Send an event that triggers the function, or invoke it.
        </p>
      )}
      <ul className="divide-y divide-line">
        {runs.slice(0, 10).map((run) => (
          <Line key={run.run_id} run={run} />
        ))}
      </ul>
    </Card>
  );
}

function Line({ run }: { run: ListedRun }) {
  return (
    <li className="flex items-center gap-4 px-4 py-2.5">
      <span className="w-24 shrink-0 sm:w-32">
        <RunStateBadge run={run} />
      </span>
      <span className="min-w-0 flex-1">
        <Link
          to="/runs/$id"
          params={{ id: run.run_id }}
          title={run.run_id}
          className="block min-w-0 hover:text-accent hover:underline"
        >
          {run.event_name === undefined ? (
            <Id id={run.run_id} />
          ) : (
            <EventGist name={run.event_name} gist={run.event_gist} />
          )}
        </Link>
        {run.error && <span className="block truncate text-xs text-muted">{run.error}</span>}
      </span>
      <span className="hidden w-20 text-right text-sm sm:block">
        <RunDuration run={run} />
      </span>
      <span className="w-20 shrink-0 text-right text-sm text-muted">
        <Time at={run.queued_at} />
      </span>
    </li>
  );
}
