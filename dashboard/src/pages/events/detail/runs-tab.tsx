import { Link, useNavigate } from '@tanstack/react-router';
import type { ListedRun } from '../../../api/types.ts';
import { useFunctions } from '../../../features/functions/queries.ts';
import { attemptOf } from '../../../features/runs/attempts.ts';
import { hasEnded } from '../../../features/runs/run.ts';
import { RunStateBadge } from '../../../features/runs/run-state-badge.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card } from '../../../ui/page.tsx';
import { duration, Time } from '../../../ui/time.tsx';
import type { useEventRuns } from './queries.ts';

const COLUMNS: Column<ListedRun>[] = [
  {
    id: 'function',
    header: 'Function',
    width: 'minmax(0, 1.4fr)',
    cell: ({ run_id, function_id, replay_id, error }) => (
      <>
        <Link to="/runs/$id" params={{ id: run_id }} className="block truncate font-medium hover:underline">
          {function_id}
        </Link>
        {replay_id && <span className="block text-xs text-muted">replayed</span>}
        {error && <span className="block truncate text-xs text-bad">{error.message}</span>}
      </>
    ),
  },
  { id: 'status', header: 'Status', width: 'min(16rem, 34vw)', cell: (run) => <RunStateBadge run={run} /> },
  {
    id: 'attempt',
    header: 'Attempt',
    width: '5rem',
    align: 'right',
    hideOnMobile: true,
    cell: (run) => (hasEnded(run) ? <span className="text-muted">–</span> : <Attempt run={run} />),
  },
  {
    id: 'duration',
    header: 'Duration',
    width: '6rem',
    align: 'right',
    hideOnMobile: true,
    cell: ({ queued_at, ended_at }) =>
      ended_at ? duration(Date.parse(ended_at) - Date.parse(queued_at)) : <span className="text-muted">–</span>,
  },
  {
    id: 'queued',
    header: 'Queued',
    width: '6rem',
    align: 'right',
    hideOnMobile: true,
    cell: ({ queued_at }) => <Time at={queued_at} />,
  },
];

function Attempt({ run }: { run: ListedRun }) {
  const { functions } = useFunctions();
  const fn = functions?.find(({ id }) => id === run.function_id);
  return attemptOf(run, fn && fn.retries + 1);
}

/** Runs that the event triggered. */
export function RunsTab({
  runs: { data, error, refetch },
  name,
}: {
  runs: ReturnType<typeof useEventRuns>;
  name: string;
}) {
  const navigate = useNavigate();
  if (error) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <Card>
        <Loading />
      </Card>
    );
  }
  if (data.data.length === 0) {
    return (
      <Card>
        <EmptyState title="No runs">
          <p>
            When this event arrived, no function was triggered by <span className="font-mono text-xs">{name}</span>.{' '}
            <Link
              to="."
              search={(before) => ({ ...before, tab: 'decisions' as const })}
              className="text-accent underline"
            >
              See why
            </Link>
          </p>
        </EmptyState>
      </Card>
    );
  }
  return (
    <DataTable
      label="Runs"
      columns={COLUMNS}
      rows={data.data}
      rowKey={(run) => run.run_id}
      onOpen={({ run_id }) => void navigate({ to: '/runs/$id', params: { id: run_id } })}
    />
  );
}
