import { useEnv } from '../../api/environment.ts';
import { VersionSelect } from '../../features/apps/version-select.tsx';
import { BulkDialog } from '../../features/runs/bulk/bulk-dialog.tsx';

interface MoveRunsProps {
  app: string;
  /** The version to which the runs are pinned. */
  from: string;
  onClose(): void;
}

/** Moves all runs of a version to another one. */
export function MoveRuns({ app, from, onClose }: MoveRunsProps) {
  const env = useEnv();
  return (
    <BulkDialog
      env={env}
      action="move"
      filter={{ app, app_version: from, status: ['Queued', 'Running'] }}
      versionField={(value, onChange) => <VersionSelect app={app} from={from} value={value} onChange={onChange} />}
      onClose={onClose}
    />
  );
}
