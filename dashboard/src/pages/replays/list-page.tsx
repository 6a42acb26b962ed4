import { getRouteApi, Link } from '@tanstack/react-router';
import { useHasAccess } from '../../api/current-user.ts';
import type { Replay } from '../../api/types.ts';
import { formatCount } from '../../lib/format.ts';
import { OperationStatus } from '../../ui/bulk-operations/operation-status.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { ProgressBar } from '../../ui/progress-bar.tsx';
import { Time } from '../../ui/time.tsx';
import { NewReplayDialog } from './new-replay-dialog.tsx';
import { useReplays } from './queries.ts';
import { filterText, functionsText, shareDone, waitsFor } from './texts.ts';

const route = getRouteApi('/replays');

export default function ReplaysPage() {
  const { new: isNew, env: _, ...given } = route.useSearch() as { new?: true; env?: string };
  const navigate = route.useNavigate();
  const canWrite = useHasAccess('write');
  const replays = useReplays();
  const close = () => void navigate({ search: (({ env }: { env?: string }) => ({ env })) as never, replace: true });
  return (
    <Page
      title="Replays"
      description="Functions re-run on past events."
      actions={
        <Button
          variant="primary"
          icon="plus"
          disabled={!canWrite}
          title={canWrite ? undefined : 'Requires write access'}
          onClick={() => void navigate({ search: ((before: object) => ({ ...before, new: true })) as never })}
        >
          New replay
        </Button>
      }
    >
      <ListTable
        list={replays}
        label="Replays"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/replays/$id', params: { id }, search: {} })}
        rowHeight={57}
        empty={
          <Card>
            <EmptyState title="No replays yet">
              A replay runs functions again on past events: after a bug was fixed, for a new function, or after an
              outage. A dry run says first what it would start.
            </EmptyState>
          </Card>
        }
      />
      {isNew && canWrite && <NewReplayDialog given={given} onClose={close} />}
    </Page>
  );
}

const COLUMNS: Column<Replay>[] = [
  {
    id: 'replay',
    header: 'Replay',
    width: 'minmax(0, 2fr)',
    cell: (replay) => (
      <>
        <Link
          to="/replays/$id"
          params={{ id: replay.id }}
          search={{}}
          className="block truncate font-medium hover:underline"
        >
          {replay.name ?? filterText(replay)}
        </Link>
        <span className="block truncate text-xs text-muted">
          {replay.name ? filterText(replay) : functionsText(replay)}
        </span>
      </>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    width: '6.5rem',
    cell: (replay) => <OperationStatus status={replay.status} waits={waitsFor(replay)} />,
  },
  {
    id: 'progress',
    header: 'Progress',
    width: 'minmax(0, 11rem)',
    hideOnMobile: true,
    cell: (replay) => <ProgressBar label="Progress" share={shareDone(replay)} />,
  },
  {
    id: 'runs',
    header: 'Runs',
    width: '5rem',
    align: 'right',
    hideOnMobile: true,
    cell: ({ progress }) => formatCount(progress.started),
  },
  {
    id: 'created',
    header: 'Created',
    width: '5.5rem',
    align: 'right',
    cell: ({ created_at }) => (
      <span className="text-sm text-muted">
        <Time at={created_at} />
      </span>
    ),
  },
];
