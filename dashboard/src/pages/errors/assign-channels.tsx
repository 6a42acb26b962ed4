import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { ErrorGroup } from '../../api/types.ts';
import { ChannelChoice } from '../../features/alerts/channel-choice.tsx';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';

/** Who hears when runs fail with this error. */
export function AssignedChannels({ group }: { group: ErrorGroup }) {
  const canWrite = useHasAccess('write');
  const [open, setOpen] = useState(false);
  const { alert_channels: channels, state } = group;
  return (
    <div className="space-y-3 p-4">
      <p>
        {state === 'ignored' ? (
          'Nobody, while it is ignored.'
        ) : channels ? (
          <>
            <strong className="font-medium">{channels.join(', ')}</strong> whenever a run fails with it.
          </>
        ) : (
          <>
            Those of the{' '}
            <Link to="/alerts" search={{ tab: 'rules' }} className="text-accent underline">
              rule “New error”
            </Link>
            , once it is new or was resolved.
          </>
        )}
      </p>
      {canWrite && (
        <Button icon="shield" onClick={() => setOpen(true)}>
          Assign to channels…
        </Button>
      )}
      {open && <AssignDialog group={group} onClose={() => setOpen(false)} />}
    </div>
  );
}

function AssignDialog({ group: { fingerprint, alert_channels }, onClose }: { group: ErrorGroup; onClose(): void }) {
  const env = useEnv();
  const [channels, setChannels] = useState(alert_channels);
  const save = useAction({
    run: () => callApi(`/v1/errors/${fingerprint}`, { method: 'PATCH', env, body: { alert_channels: channels } }),
    successMessage: channels ? `Assigned to ${channels.join(', ')}` : 'Assigned to the rule’s channels',
    invalidates: 'errors',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title="Who hears of this error?"
      submitLabel="Assign"
      busy={save.isPending}
      disabled={channels?.length === 0}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <ChannelChoice unchosen="Those of the rule “New error”" value={channels} onChange={setChannels} />
    </FormDialog>
  );
}
