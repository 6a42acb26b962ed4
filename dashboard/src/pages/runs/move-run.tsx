import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Run } from '../../api/types.ts';
import { VersionSelect } from '../../features/apps/version-select.tsx';
import { useFunction } from '../../features/functions/queries.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';

/** Moves a run to another version of its app. */
export function MoveRun({ run, onClose }: { run: Run; onClose(): void }) {
  const env = useEnv();
  const fn = useFunction(run.function_id);
  const [to, setTo] = useState('');
  const move = useAction({
    run: () => callApi(`/v1/runs/${run.run_id}/move`, { method: 'POST', env, body: { version: to || null } }),
    successMessage: to ? `The run ends on ${to}` : 'The run continues with the active version',
    invalidates: 'run',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title="Move to another version"
      submitLabel="Move"
      busy={move.isPending}
      error={move.error ?? fn.error}
      onSubmit={() => move.mutate()}
      onClose={onClose}
    >
      {fn.data?.data.app && <VersionSelect app={fn.data.data.app} from={run.app_version} value={to} onChange={setTo} />}
      <p className="text-muted">
        The next call of the run is for the other version, with the results of all steps so far.
      </p>
    </FormDialog>
  );
}
