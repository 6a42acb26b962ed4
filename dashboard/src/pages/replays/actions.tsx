import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Replay } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { useAction } from '../../ui/use-action.ts';

export function ReplayActions({ replay: { id, status, runs } }: { replay: Replay }) {
  const env = useEnv();
  const [withRuns, setWithRuns] = useState(false);
  const { mutateAsync, isPending } = useAction({
    run: ({ action, body }: { action: 'pause' | 'resume' | 'cancel'; body?: object }) =>
      callApi<Replay>(`/v1/replays/${id}/${action}`, { method: 'POST', env, ...(body && { body }) }),
    invalidates: 'replays',
  });
  // The action shows its error.
  const run = (change: Parameters<typeof mutateAsync>[0]) => mutateAsync(change).catch(() => {});
  const isOpen = status === 'running' || status === 'paused';
  return (
    <>
      {status === 'running' && (
        <Button icon="pause" busy={isPending} onClick={() => void run({ action: 'pause' })}>
          Pause
        </Button>
      )}
      {status === 'paused' && (
        <Button variant="primary" icon="play" busy={isPending} onClick={() => void run({ action: 'resume' })}>
          Resume
        </Button>
      )}
      {isOpen && (
        <ConfirmButton
          icon="close"
          title="Cancel this replay?"
          text={
            <div className="space-y-4">
              <p>It starts no more runs, and cannot be resumed.</p>
              <Checkbox checked={withRuns} onChange={setWithRuns}>
                Also cancel its active runs ({runs.active.toLocaleString()})
              </Checkbox>
            </div>
          }
          confirmLabel="Cancel replay"
          onConfirm={() => run({ action: 'cancel', body: { cancel_runs: withRuns } })}
        >
          Cancel
        </ConfirmButton>
      )}
      {(status === 'done' || status === 'cancelled') && runs.active > 0 && (
        <ConfirmButton
          icon="close"
          title="Cancel the active runs of this replay?"
          text="Runs that have ended stay as they are."
          confirmLabel="Cancel runs"
          onConfirm={() => run({ action: 'cancel', body: { cancel_runs: true } })}
        >
          Cancel active runs
        </ConfirmButton>
      )}
    </>
  );
}
