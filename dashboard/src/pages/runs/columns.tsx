import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { hasEnded, type ListedRun } from '../../features/runs/run.ts';
import { RunDuration } from '../../features/runs/run-duration.tsx';
import { RunStateBadge } from '../../features/runs/run-state-badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Time } from '../../ui/time.tsx';
import { useRunActions } from './use-run-actions.ts';

const COLUMNS: Column<ListedRun>[] = [
  { id: 'status', header: 'Status', width: 'min(16rem, 34vw)', cell: (run) => <RunStateBadge run={run} /> },
  { id: 'function', header: 'Function', width: 'minmax(0, 2fr)', cell: (run) => <Name run={run} /> },
  {
    id: 'event',
    header: 'Event',
    width: 'minmax(0, 9rem)',
    hideOnMobile: true,
    cell: ({ event_id: id }) => (
      <Link to="/events/$id" params={{ id }} className="text-muted hover:text-accent hover:underline">
        <Id id={id} maxChars={15} />
      </Link>
    ),
  },
  {
    id: 'duration',
    header: 'Duration',
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
      {(run.replay_id || run.error) && (
        <p className="truncate text-xs text-muted">
          {run.replay_id && <span title="Started by a replay">{run.error ? 'replayed · ' : 'replayed'}</span>}
          {run.error}
        </p>
      )}
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

/** @param canWrite without it there are no buttons
 *  @returns the columns, and the confirmation dialog to render next to the table */
export function useRunColumns(onDone: () => void, canWrite: boolean) {
  const { cancel, rerun } = useRunActions();
  const [confirming, setConfirming] = useState<string>();
  const [busy, setBusy] = useState<string>();
  const runAction = async (id: string, action: (id: string) => Promise<unknown>) => {
    setBusy(id);
    await action(id);
    setBusy(undefined);
    setConfirming(undefined);
    onDone();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the actions do not depend on the render
  const columns = useMemo((): Column<ListedRun>[] => {
    if (!canWrite) return COLUMNS;
    const cell = (run: ListedRun) => {
      const { run_id: id, function_id: fn } = run;
      if (!hasEnded(run))
        return (
          <IconButton
            icon="close"
            label={`Cancel run of ${fn}`}
            disabled={busy === id}
            onClick={() => setConfirming(id)}
          />
        );
      return (
        <IconButton
          icon="retry"
          label={`Re-run ${fn}`}
          disabled={busy === id}
          onClick={() => void runAction(id, rerun)}
        />
      );
    };
    return [...COLUMNS, { id: 'Actions', header: '', width: '2rem', align: 'right', hideOnMobile: true, cell }];
  }, [canWrite, busy]);
  const dialog = (
    <CancelDialog
      open={confirming !== undefined}
      busy={busy !== undefined}
      onClose={() => setConfirming(undefined)}
      onCancel={() => void runAction(confirming as string, cancel)}
    />
  );
  return { columns, dialog };
}

export const CANCEL_EXPLANATION =
  'The function is not called again and its waits are dropped. A call in progress is not aborted, but its response is ignored. This cannot be undone; you can re-run the function from the start.';

function CancelDialog(props: { open: boolean; busy: boolean; onClose(): void; onCancel(): void }) {
  const footer = (
    <>
      <Button onClick={props.onClose}>Keep running</Button>
      <Button variant="danger" busy={props.busy} onClick={props.onCancel}>
        Cancel run
      </Button>
    </>
  );
  return (
    <Dialog open={props.open} title="Cancel this run?" onClose={props.onClose} footer={footer}>
      {CANCEL_EXPLANATION}
    </Dialog>
  );
}
