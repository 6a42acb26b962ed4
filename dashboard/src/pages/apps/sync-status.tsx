import type { App } from '../../api/types.ts';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';

/** Result and time of the last registration. */
export function SyncStatus({ sync: { at, succeeded, error } }: { sync: App['last_sync'] }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      {succeeded ? (
        <Badge tone="good" icon="check">
          Registered
        </Badge>
      ) : (
        <Badge tone="bad" icon="close" title={error ?? 'Unknown reason'}>
          Failed
        </Badge>
      )}
      <span className="text-sm text-muted">
        <Time at={at} />
      </span>
    </span>
  );
}
