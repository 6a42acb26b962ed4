import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { RunWithHistory, StoredEvent } from '../../api/types.ts';
import InvokeDialog from '../../features/functions/invoke-dialog.tsx';
import { hasEnded } from '../../features/runs/run.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { CANCEL_EXPLANATION } from './row-actions.tsx';
import { useRunActions } from './use-run-actions.ts';

const MoveRun = lazy(async () => ({ default: (await import('./move-run.tsx')).MoveRun }));

/** Actions for the run in its current state.
 *  @param event that triggered it; undefined: deleted */
export function RunActions({ run, event }: { run: RunWithHistory; event: StoredEvent | undefined }) {
  const { cancel, giveUp, rerun: createRerun, resume, retryNow } = useRunActions();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [editing, setEditing] = useState(false);
  const [moving, setMoving] = useState(false);
  const runAction = async (action: () => Promise<unknown>) => {
    setBusy(true);
    await action();
    setBusy(false);
  };
  const rerun = async () => {
    const newRun = await createRerun(run.run_id);
    if (newRun) await navigate({ to: '/runs/$id', params: { id: newRun.run_id } });
  };
  return (
    <>
      {event && (
        <Button icon="edit" onClick={() => setEditing(true)}>
          Edit and re-run
        </Button>
      )}
      {hasEnded(run) && (
        <Button
          variant="primary"
          icon="retry"
          busy={busy}
          disabled={!event}
          title={event ? undefined : 'Its event has been deleted'}
          onClick={() => void runAction(rerun)}
        >
          Re-run
        </Button>
      )}
      {!hasEnded(run) && (
        <ConfirmButton
          icon="close"
          title="Cancel this run?"
          text={CANCEL_EXPLANATION}
          confirmLabel="Cancel run"
          onConfirm={() => cancel(run.run_id)}
        >
          Cancel
        </ConfirmButton>
      )}
      {run.state.kind === 'paused' && (
        <>
          <ConfirmButton
            icon="close"
            title="Fail this run?"
            text="It fails with the error of its pause, and failure handlers run. This cannot be undone; you can re-run the function."
            confirmLabel="Fail run"
            onConfirm={() => giveUp(run.run_id)}
          >
            Fail
          </ConfirmButton>
          <Button variant="primary" icon="play" busy={busy} onClick={() => void runAction(() => resume(run.run_id))}>
            Resume
          </Button>
        </>
      )}
      {run.next_try_at && !hasEnded(run) && (
        <Button variant="primary" icon="play" busy={busy} onClick={() => void runAction(() => retryNow(run.run_id))}>
          Retry now
        </Button>
      )}
      {!hasEnded(run) && run.app_version !== null && (
        <>
          <Button onClick={() => setMoving(true)}>Move…</Button>
          <Suspense>{moving && <MoveRun run={run} onClose={() => setMoving(false)} />}</Suspense>
        </>
      )}
      {event && (
        <InvokeDialog
          open={editing}
          onClose={() => setEditing(false)}
          functionId={run.function_id}
          title="Re-run with edited input"
          data={stringifyExact(event.data, 2)}
          user={event.user}
          v={event.v}
        />
      )}
    </>
  );
}
