import { useMemo, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import type { AlertChannel, TestedAlertChannel } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useAction } from '../../ui/use-action.ts';
import { ChannelForm } from './channel-form.tsx';
import { KINDS } from './kinds.ts';

export function Channels() {
  const [creating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string>();
  const channels = useList<AlertChannel>(['alert-channels'], '/v1/alert-channels');
  const canWrite = useHasAccess('write');
  const columns = useMemo(columnsOf, []);
  return (
    <>
      <div className="mb-3 flex justify-end">
        <Button variant="primary" icon="plus" disabled={!canWrite} onClick={() => setCreating(true)}>
          Create channel
        </Button>
      </div>
      <ListTable
        list={channels}
        label="Channels"
        columns={columns}
        rowKey={({ name }) => name}
        rowHeight={60}
        empty={<EmptyState title="No channels yet">Alerts are only shown here until you create one.</EmptyState>}
      />
      {creating && (
        <ChannelForm onClose={() => setCreating(false)} onCreated={({ secret }) => setSecret(secret ?? undefined)} />
      )}
      <SecretDialog
        title="Channel created"
        secret={secret}
        label="Copy secret"
        warning="Copy it now: the receiver verifies signatures with it. It is shown only once."
        onClose={() => setSecret(undefined)}
      />
    </>
  );
}

function columnsOf(): Column<AlertChannel>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(0, 1fr)',
      cell: ({ name, kind, address }) => (
        <div className="min-w-0">
          <div className="truncate font-medium">{name}</div>
          <p className="truncate text-xs text-muted" title={address}>
            {KINDS[kind].label} · {address}
          </p>
        </div>
      ),
    },
    {
      id: 'state',
      header: 'State',
      width: 'minmax(0, 1fr)',
      hideOnMobile: true,
      cell: (channel) => <State of={channel} />,
    },
    {
      id: 'actions',
      header: '',
      width: 'clamp(8rem, 30vw, 13rem)',
      align: 'right',
      cell: (channel) => <Actions of={channel} />,
    },
  ];
}

function State({ of: { problem, waiting, last_sent_at } }: { of: AlertChannel }) {
  if (problem !== null) {
    return (
      <Badge tone="bad" icon="warning" title={problem}>
        {problem}
      </Badge>
    );
  }
  if (waiting > 0) return <span>{waiting} waiting</span>;
  return last_sent_at === null ? (
    <span className="text-muted">nothing sent lately</span>
  ) : (
    <span>
      sent <Time at={last_sent_at} />
    </span>
  );
}

function Actions({ of: { name } }: { of: AlertChannel }) {
  const canWrite = useHasAccess('write');
  const test = useAction({
    run: () => callApi<TestedAlertChannel>(`/v1/alert-channels/${name}/test`, { method: 'POST' }),
    invalidates: 'alert-channels',
    onSuccess({ data: { accepted, status, answer } }) {
      const said = [status, answer].filter((part) => part !== null && part !== '').join(': ');
      if (accepted) toast.success(said === '' ? 'Test accepted' : `Test accepted: ${said}`);
      else toast.error(new Error(`Test failed: ${said}`));
    },
  });
  const remove = useAction({
    run: () => callApi(`/v1/alert-channels/${name}`, { method: 'DELETE' }),
    successMessage: `${name} deleted`,
    invalidates: 'alert-channels',
  });
  if (!canWrite) return null;
  return (
    <div className="flex justify-end gap-2">
      <Button busy={test.isPending} onClick={() => test.mutate()} title={`Send a test to ${name}`}>
        Send test
      </Button>
      <ConfirmButton
        title={`Delete ${name}?`}
        text="What it has not sent yet is not sent. Rules that name it beside others no longer do. This cannot be undone."
        confirmLabel="Delete"
        icon="trash"
        onConfirm={() => remove.mutateAsync().catch(() => {})}
      >
        <span className="sr-only">Delete {name}</span>
      </ConfirmButton>
    </div>
  );
}
