import { useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { toast } from '../../../ui/toast.tsx';

export function NameCard({ webhook, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const [name, setName] = useState(webhook.name);
  const change = useUpdateWebhook(webhook.id);
  const changed = name.trim() !== '' && name.trim() !== webhook.name;
  return (
    <Card title="Name">
      <form
        className="flex flex-wrap items-start gap-2 p-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ name }, { onSuccess: () => toast.success('Webhook renamed') });
        }}
      >
        <div className="min-w-0 flex-1 basis-56">
          <TextField
            label="Name"
            hideLabel
            maxLength={100}
            value={name}
            disabled={!canWrite}
            error={change.error?.message}
            onChange={({ target }) => setName(target.value)}
          />
        </div>
        <Button type="submit" disabled={!canWrite || !changed} busy={change.isPending}>
          Rename
        </Button>
      </form>
    </Card>
  );
}
