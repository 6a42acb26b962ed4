import type { App } from '../../api/types.ts';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';

/** How the last attempt to register it went, and when. */
export function SyncStatus({ sync: { at, succeeded, error } }: { sync: App['last_sync'] }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      {succeeded ? (
        <Badge tone="good" icon="check">
          Registered
        </Badge>
      ) : (
        <Badge tone="bad" icon="cross" title={error ?? 'No reason was told'}>
          Failed
        </Badge>
      )}
      <span className="text-sm text-muted">
        <Time at={at} />
      </span>
    </span>
  );
}
