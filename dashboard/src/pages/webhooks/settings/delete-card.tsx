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
import { toast } from '../../../ui/toast.tsx';

/** Deleting loses the provider's later requests, so the user must type the webhook's name. */
export function DeleteCard({ webhook, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <Card title="Delete">
      <div className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="min-w-0 flex-1 basis-64 text-muted">
          Its URL then responds with 401 and its request log is deleted. Its events remain.
        </p>
        <Button variant="danger" icon="trash" disabled={!canWrite} onClick={() => setOpen(true)}>
          Delete webhook
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
  const remove = useMutation({
    mutationFn: () => callApi(`/v1/webhooks/${id}`, { method: 'DELETE' }),
    async onSuccess() {
      toast.success(`Webhook ${name} deleted`);
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
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" disabled={typed !== name} busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <p>This cannot be undone. Later requests of the provider are rejected and lost.</p>
        <TextField
          label={`Type ${name} to confirm`}
          autoComplete="off"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        {remove.isError && <ErrorAlert error={remove.error} />}
      </div>
    </Dialog>
  );
}
