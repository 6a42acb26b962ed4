import { useState } from 'react';
import { useEnv } from '../../api/environment.ts';
import type { Replay } from '../../api/types.ts';
import { isOpen, useOperationChange } from '../../ui/bulk-operations/operation.ts';
import { PauseButton } from '../../ui/bulk-operations/operation-progress.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';

export function ReplayActions({ replay: { id, status, runs } }: { replay: Replay }) {
  const env = useEnv();
  const [withRuns, setWithRuns] = useState(false);
  const { mutateAsync, isPending } = useOperationChange<Replay>({
    path: `/v1/replays/${id}`,
    env,
    invalidates: 'replays',
  });
  // The action shows its error.
  const run = (change: Parameters<typeof mutateAsync>[0]) => mutateAsync(change).catch(() => {});
  return (
    <>
      <PauseButton status={status} busy={isPending} onChange={(verb) => void run({ verb })} />
      {isOpen(status) && (
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
          onConfirm={() => run({ verb: 'cancel', body: { cancel_runs: withRuns } })}
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
          onConfirm={() => run({ verb: 'cancel', body: { cancel_runs: true } })}
        >
          Cancel active runs
        </ConfirmButton>
      )}
    </>
  );
}
