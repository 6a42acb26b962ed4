import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../../api/client.ts';
import type { Webhook } from '../../../api/types.ts';
import { useInvalidateWebhooks } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { useTell } from '../../../ui/toast.tsx';

/** Its provider's requests are lost from then on: its name has to be typed. */
export function DeleteCard({ webhook, mayWrite }: { webhook: Webhook; mayWrite: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <Card title="Delete">
      <div className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="min-w-0 flex-1 basis-64 text-muted">
          Its URL answers 401 from then on, and its log is gone. Its events stay.
        </p>
        <Button variant="danger" icon="trash" disabled={!mayWrite} onClick={() => setOpen(true)}>
          Delete the webhook
        </Button>
      </div>
      <Confirm webhook={webhook} open={open} onClose={() => setOpen(false)} />
    </Card>
  );
}

function Confirm({ webhook: { id, name }, open, onClose }: { webhook: Webhook; open: boolean; onClose(): void }) {
  const [typed, setTyped] = useState('');
  const navigate = useNavigate();
  const refresh = useInvalidateWebhooks();
  const tell = useTell();
  const remove = useMutation({
    mutationFn: () => callApi(`/v1/webhooks/${id}`, { method: 'DELETE' }),
    async onSuccess() {
      tell.done(`The webhook ${name} is deleted.`);
      await navigate({ to: '/webhooks', ignoreBlocker: true });
      await refresh();
    },
  });
  return (
    <Dialog
      open={open}
      title={`Delete ${name}?`}
      onClose={() => {
        setTyped('');
        onClose();
      }}
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button variant="danger" disabled={typed !== name} busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete it for good
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <p>This cannot be undone. What its provider sends afterwards is refused, and lost.</p>
        <TextField
          label={`Type its name to confirm: ${name}`}
          autoComplete="off"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        {remove.isError && <ErrorAlert error={remove.error} />}
      </div>
    </Dialog>
  );
}
