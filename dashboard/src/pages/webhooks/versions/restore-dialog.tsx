import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../../api/client.ts';
import type { Webhook } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextField } from '../../../ui/field.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { VersionDiff } from './diff.tsx';

const MESSAGE_MAX_LENGTH = 500;

/** Shows what will change, then makes a new version with the content of this version. */
export function RestoreButton({ webhook, version }: { webhook: Webhook; version: number }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon="replay" variant="primary" onClick={() => setOpen(true)}>
        Restore this version
      </Button>
      {open && <RestoreDialog webhook={webhook} version={version} onClose={() => setOpen(false)} />}
    </>
  );
}

function RestoreDialog({ webhook, version, onClose }: { webhook: Webhook; version: number; onClose(): void }) {
  const [message, setMessage] = useState('');
  const navigate = useNavigate();
  const restore = useAction({
    run: () =>
      callApi(`/v1/webhooks/${webhook.id}/versions/${version}/restore`, {
        method: 'POST',
        body: { if_version: webhook.version, ...(message.trim() !== '' && { message }) },
      }),
    invalidates: 'webhooks',
    successMessage: `Version ${version} restored`,
    onSuccess: () => {
      onClose();
      void navigate({
        to: '.',
        search: (before: object) => ({ ...before, version: undefined, with: undefined }) as never,
      });
    },
    showsError: true,
  });
  return (
    <Dialog
      open
      wide
      title={`Restore version ${version}?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={restore.isPending} onClick={() => restore.mutate()}>
            Restore
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <p>
          A new version with its content handles requests from then on. Secrets stay, unless that version has another
          provider: then requests are rejected until you set its secrets.
        </p>
        <TextField
          label="Message"
          placeholder="Optional"
          maxLength={MESSAGE_MAX_LENGTH}
          value={message}
          autoComplete="off"
          onChange={({ target }) => setMessage(target.value)}
        />
        {restore.error && <ErrorAlert error={restore.error} />}
        <div className="rounded-lg border border-line">
          <p className="px-4 pt-2 text-sm font-medium">What restoring changes</p>
          <VersionDiff webhookId={webhook.id} before={webhook.version} after={version} />
        </div>
      </div>
    </Dialog>
  );
}
