import { useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { ErrorGroup } from '../../api/types.ts';
import { runsOf } from '../../features/errors/error-group-line.tsx';
import { BulkDialog } from '../../features/runs/bulk/bulk-dialog.tsx';
import { filterOf } from '../../features/runs/bulk/requests.ts';
import { Button } from '../../ui/button.tsx';

/** Re-runs all failed runs of the group: after a deploy with its code, which is what people wait for. */
export function RerunAll({ group }: { group: ErrorGroup }) {
  const env = useEnv();
  const canWrite = useHasAccess('write');
  const [open, setOpen] = useState(false);
  const isNewer = group.newer_deploy !== null;
  if (!canWrite) return null;
  return (
    <>
      <Button
        variant={isNewer ? 'primary' : 'secondary'}
        icon="retry"
        title={isNewer ? undefined : 'No deploy has changed the app since the last failure'}
        onClick={() => setOpen(true)}
      >
        {isNewer ? 'Re-run all with the newer code…' : 'Re-run all…'}
      </Button>
      {open && (
        <BulkDialog
          env={env}
          action="retry"
          filter={filterOf({ filters: runsOf(group) })}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
