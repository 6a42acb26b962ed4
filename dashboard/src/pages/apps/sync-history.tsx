import type { App } from '../../api/types.ts';
import { originText } from '../../features/deploys/deploy-text.ts';
import { Time } from '../../ui/time.tsx';
import { SyncStatus } from './sync-status.tsx';

/** The last registration with its cause, and the last failed registration. */
export function SyncHistory({ app: { last_sync, last_failed_sync: failed } }: { app: App }) {
  const isShown = failed !== null && !(failed.at === last_sync.at && !last_sync.succeeded);
  return (
    <>
      <SyncStatus sync={last_sync} />
      {last_sync.by && <p className="text-sm text-muted">{originText(last_sync.by)}</p>}
      {isShown && (
        <p className="mt-1 text-sm break-words text-muted">
          Last failure <Time at={failed.at} />
          {failed.by && `, ${originText(failed.by)}`}: {failed.error}
        </p>
      )}
    </>
  );
}
