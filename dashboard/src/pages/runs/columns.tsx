import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { hasEnded, type ListedRun } from '../../features/runs/run.ts';
import { RunDuration } from '../../features/runs/run-duration.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { RunStatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useRunActions } from './use-run-actions.ts';

const COLUMNS: Column<ListedRun>[] = [
  { id: 'status', header: 'Status', width: '6.5rem', cell: ({ status }) => <RunStatusBadge status={status} /> },
  { id: 'function', header: 'Function', width: 'minmax(0, 2fr)', cell: (run) => <Name run={run} /> },
  {
    id: 'event',
    header: 'Event',
    width: 'minmax(0, 9rem)',
    hideOnMobile: true,
    cell: ({ event_id: id }) => (
      <Link to="/events/$id" params={{ id }} className="text-muted hover:text-accent hover:underline">
        <Id id={id} keep={15} />
      </Link>
    ),
  },
  {
    id: 'took',
    header: 'Took',
    width: '6rem',
    align: 'right',
    hideOnMobile: true,
    cell: (run) => <RunDuration run={run} />,
  },
  { id: 'queued', header: 'Queued', width: '5rem', align: 'right', cell: (run) => <Queued run={run} /> },
];

function Name({ run }: { run: ListedRun }) {
  return (
    <>
      <Link to="/runs/$id" params={{ id: run.run_id }} className="block truncate font-medium hover:underline">
        {run.function_id}
      </Link>
      {run.error && <p className="truncate text-xs text-muted">{run.error}</p>}
    </>
  );
}

function Queued({ run }: { run: ListedRun }) {
  return (
    <span className="text-muted">
      <Time at={run.queued_at} />
    </span>
  );
}

/** @param mayWrite readers are shown no buttons
 *  @returns `dialog`, which asks before a run is cancelled and stands beside the table */
export function useRunColumns(onDone: () => void, mayWrite: boolean) {
  const { cancel, retry } = useRunActions();
  const [asking, setAsking] = useState<string>();
  const [busy, setBusy] = useState<string>();
  const doing = async (id: string, deed: (id: string) => Promise<unknown>) => {
    setBusy(id);
    await deed(id);
    setBusy(undefined);
    setAsking(undefined);
    onDone();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the deeds are the same whenever they are made
  const columns = useMemo((): Column<ListedRun>[] => {
    if (!mayWrite) return COLUMNS;
    const cell = (run: ListedRun) => {
      const { run_id: id, function_id: fn } = run;
      if (!hasEnded(run))
        return (
          <IconButton
            icon="cross"
            label={`Cancel the run of ${fn}`}
            disabled={busy === id}
            onClick={() => setAsking(id)}
          />
        );
      return (
        <IconButton
          icon="again"
          label={`Run ${fn} again`}
          disabled={busy === id}
          onClick={() => void doing(id, retry)}
        />
      );
    };
    return [...COLUMNS, { id: 'Actions', header: '', width: '2rem', align: 'right', hideOnMobile: true, cell }];
  }, [mayWrite, busy]);
  const dialog = (
    <CancelDialog
      open={asking !== undefined}
      busy={busy !== undefined}
      onClose={() => setAsking(undefined)}
      onCancel={() => void doing(asking as string, cancel)}
    />
  );
  return { columns, dialog };
}

export const CANCEL_EXPLANATION =
  'It will not be called again, and what it waits for is dropped. A call under way is not broken off, but its answer is ignored. This cannot be undone; the run can be done again from its beginning.';

function CancelDialog(props: { open: boolean; busy: boolean; onClose(): void; onCancel(): void }) {
  const foot = (
    <>
      <Button onClick={props.onClose}>Let it run</Button>
      <Button variant="danger" busy={props.busy} onClick={props.onCancel}>
        Cancel the run
      </Button>
    </>
  );
  return (
    <Dialog open={props.open} title="Cancel this run?" onClose={props.onClose} footer={foot}>
      {CANCEL_EXPLANATION}
    </Dialog>
  );
}
