import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { RunWithHistory, StoredEvent } from '../../api/types.ts';
import InvokeDialog from '../../features/functions/invoke-dialog.tsx';
import { hasEnded } from '../../features/runs/run.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { CANCEL_EXPLANATION } from './cancel-explanation.ts';
import { laterRunOf } from './later-run.ts';
import { RerunNote } from './rerun-again.tsx';
import { useRerun } from './use-rerun.tsx';
import { useRunsLike } from './use-run.ts';
import { useRunActions } from './use-run-actions.ts';

const MoveRun = lazy(async () => ({ default: (await import('./move-run.tsx')).MoveRun }));

/** Actions for the run in its current state.
 *  @param event that triggered it; undefined: deleted */
export function RunActions({ run, event }: { run: RunWithHistory; event: StoredEvent | undefined }) {
  const { cancel, giveUp, resume, retryNow } = useRunActions();
  const navigate = useNavigate();
  const { rerun, dialog } = useRerun({
    onDone: (started) => started && navigate({ to: '/runs/$id', params: { id: started.run_id } }),
  });
  const later = laterRunOf(run, useRunsLike(run));
  const [busy, setBusy] = useState(false);
  const [editing, setEditing] = useState(false);
  const [moving, setMoving] = useState(false);
  const runAction = async (action: () => Promise<unknown>) => {
    setBusy(true);
    await action();
    setBusy(false);
  };
  return (
    <>
      {later && hasEnded(run) && (
        <p className="text-sm text-muted first-letter:uppercase">
          <RerunNote later={later} />
        </p>
      )}
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
          onClick={() => void runAction(() => rerun(run))}
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
      {dialog}
    </>
  );
}
