import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { RunWithHistory, StoredEvent } from '../../api/types.ts';
import { InvokeDialog } from '../../features/functions/invoke-dialog.tsx';
import { hasEnded } from '../../features/runs/run.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { CANCEL_EXPLANATION } from './columns.tsx';
import { useRunActions } from './use-run-actions.ts';

/** What may be done with the run as it stands.
 *  @param event that it works on, where that is still kept */
export function RunActions({ run, event }: { run: RunWithHistory; event: StoredEvent | undefined }) {
  const { cancel, retry, retryNow } = useRunActions();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [editing, setEditing] = useState(false);
  const doing = async (deed: () => Promise<unknown>) => {
    setBusy(true);
    await deed();
    setBusy(false);
  };
  const again = async () => {
    const made = await retry(run.run_id);
    if (made) await navigate({ to: '/runs/$id', params: { id: made.run_id } });
  };
  return (
    <>
      {event && (
        <Button icon="edit" onClick={() => setEditing(true)}>
          Edit input and run
        </Button>
      )}
      {hasEnded(run) && (
        <Button
          variant="primary"
          icon="again"
          busy={busy}
          disabled={!event}
          title={event ? undefined : 'Its event is kept no longer'}
          onClick={() => void doing(again)}
        >
          Run again
        </Button>
      )}
      {!hasEnded(run) && (
        <ConfirmButton
          icon="cross"
          title="Cancel this run?"
          text={CANCEL_EXPLANATION}
          confirmLabel="Cancel the run"
          onConfirm={() => cancel(run.run_id)}
        >
          Cancel
        </ConfirmButton>
      )}
      {run.next_try_at && !hasEnded(run) && (
        <Button variant="primary" icon="play" busy={busy} onClick={() => void doing(() => retryNow(run.run_id))}>
          Retry now
        </Button>
      )}
      {event && (
        <InvokeDialog
          open={editing}
          onClose={() => setEditing(false)}
          functionId={run.function_id}
          title="Run again with edited input"
          data={stringifyExact(event.data, 2)}
          user={event.user}
          v={event.v}
        />
      )}
    </>
  );
}
