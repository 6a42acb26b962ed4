import { useMemo, useState } from 'react';
import { hasEnded, type ListedRun } from '../../features/runs/run.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useRunActions } from './use-run-actions.ts';

/** Cancels or re-runs the run of a row.
 *  @returns the column, and the confirmation dialog to render next to the table */
export function useRowActions(onDone: () => void) {
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
  const column = useMemo((): Column<ListedRun> => {
    const cell = (run: ListedRun) => {
      const { run_id: id, function_id: fn } = run;
      const [icon, label, onClick] = hasEnded(run)
        ? (['retry', `Re-run ${fn}`, () => void runAction(id, rerun)] as const)
        : (['close', `Cancel run of ${fn}`, () => setConfirming(id)] as const);
      // Rows may be lower than the button is.
      return (
        <IconButton icon={icon} label={label} disabled={busy === id} className="-my-2 align-middle" onClick={onClick} />
      );
    };
    return { id: 'Actions', header: '', width: '2rem', align: 'right', hideOnMobile: true, isFixed: true, cell };
  }, [busy]);
  const dialog = (
    <CancelDialog
      open={confirming !== undefined}
      busy={busy !== undefined}
      onClose={() => setConfirming(undefined)}
      onCancel={() => void runAction(confirming as string, cancel)}
    />
  );
  return { column, dialog };
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
