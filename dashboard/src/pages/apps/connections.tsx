import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { Connection } from '../../api/types.ts';
import { useConnections } from '../../features/apps/queries.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';

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
          <ConnectionItem key={connection.id} app={name} connection={connection} />
        ))}
      </ul>
    </Card>
  );
}

function ConnectionItem({ app, connection }: { app: string; connection: Connection }) {
  const canWrite = useHasAccess('write');
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
      {canWrite && <EndConnection app={app} connection={connection} />}
    </li>
  );
}

function EndConnection({ app, connection: { id, instance_id } }: { app: string; connection: Connection }) {
  const env = useEnv();
  const end = useAction({
    run: () => callApi(`/v1/apps/${encodeURIComponent(app)}/connections/${id}`, { method: 'DELETE', env }),
    successMessage: 'Connection ended',
    invalidates: 'connections',
  });
  return (
    <ConfirmButton
      icon="trash"
      title={`End the connection of ${instance_id || id}?`}
      text="It gets no more calls. The instance connects again, if its signing key is valid, and goes on with the calls that it has."
      confirmLabel="End"
      onConfirm={() => end.mutateAsync().catch(() => {})}
    >
      End
    </ConfirmButton>
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
