import { useEffect, useRef } from 'react';
import { hasEnded, type ListedRun } from '../../features/runs/run.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { CANCEL_EXPLANATION } from './cancel-explanation.ts';
import { useRerun } from './use-rerun.tsx';
import { useRunActions } from './use-run-actions.ts';

interface RowActionProps {
  run: ListedRun;
  onClose(): void;
  onDone(): void;
}

/** Re-runs a run that has ended, at once unless that was done before; cancels another one after a confirmation. */
export default function RowAction(props: RowActionProps) {
  return hasEnded(props.run) ? <Rerun {...props} /> : <Cancel {...props} />;
}

function Rerun({ run, onClose, onDone }: RowActionProps) {
  const { rerun, dialog } = useRerun({ onClose, onDone });
  const begun = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    void rerun(run);
  }, []);
  return dialog;
}

function Cancel({ run: { run_id: id }, onClose, onDone }: RowActionProps) {
  const { cancel } = useRunActions();
  return (
    <ConfirmDialog
      open
      title="Cancel this run?"
      cancelLabel="Keep running"
      confirmLabel="Cancel run"
      onClose={onClose}
      onConfirm={() => cancel(id).then(onDone)}
    >
      {CANCEL_EXPLANATION}
    </ConfirmDialog>
  );
}
