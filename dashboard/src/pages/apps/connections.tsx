import type { Connection } from '../../api/types.ts';
import { useConnections } from '../../features/apps/queries.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';

/** Live connections of an app that connects. */
export function AppConnections({ name }: { name: string }) {
  const { data, error, refetch } = useConnections(name);
  const connections = data?.data;
  return (
    <Card title={connections ? `Connections (${connections.length})` : 'Connections'}>
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!connections && !error && <Loading rows={2} />}
      {connections?.length === 0 && (
        <p className="px-4 py-8 text-center text-muted">
          No instance is connected. Calls wait until one connects, and lose no attempt.
        </p>
      )}
      <ul className="divide-y divide-line">
        {connections?.map((connection) => (
          <ConnectionItem key={connection.id} connection={connection} />
        ))}
      </ul>
    </Card>
  );
}

function ConnectionItem({ connection }: { connection: Connection }) {
  const { instance_id, app_version, sdk, calls, concurrency, connected_at, heartbeat_at } = connection;
  return (
    <li className="flex items-center gap-4 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">
          {instance_id || connection.id}
          {app_version !== null && <span className="text-muted"> · version {app_version}</span>}
        </p>
        <p className="text-sm text-muted">
          <span className="font-mono text-xs">{sdk}</span> · {calls} of {concurrency} calls · connected{' '}
          <Time at={connected_at} /> · last heartbeat <Time at={heartbeat_at} />
        </p>
      </div>
      <ConnectionStatus status={connection.status} />
    </li>
  );
}

function ConnectionStatus({ status }: Pick<Connection, 'status'>) {
  if (status === 'ready') {
    return (
      <Badge tone="good" icon="check">
        Ready
      </Badge>
    );
  }
  const text = status === 'paused' ? 'Shutting down: it finishes its calls' : 'It does not take calls yet';
  return (
    <Badge tone="warn" icon="warning" title={text}>
      {status === 'paused' ? 'Paused' : 'Connecting'}
    </Badge>
  );
}
