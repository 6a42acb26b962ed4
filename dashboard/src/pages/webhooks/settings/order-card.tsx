import { type FormEvent, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useProvider } from '../../../features/webhooks/providers.ts';
import { useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { toast } from '../../../ui/toast.tsx';

const USUAL = { window: '0s', on_stale: 'run', on_failure: 'skip' } as const;

/** Which of its events run one after another. Where the provider says it, one checkbox is enough. */
export function OrderCard({ webhook, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const { data: provider } = useProvider(webhook.provider);
  const { order } = webhook;
  const [key, setKey] = useState(order?.key ?? '');
  const [by, setBy] = useState(order?.by ?? '');
  const [skips, setSkips] = useState(order?.on_stale === 'skip');
  const change = useUpdateWebhook(webhook.id);
  const save = (next: Webhook['order']) =>
    change.mutate({ order: next }, { onSuccess: () => toast.success('Order saved') });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const on_stale = skips ? 'skip' : 'run';
    save(key === '' ? null : { ...(order ?? USUAL), key, by: by === '' ? null : by, on_stale });
  };
  const isChanged = key !== (order?.key ?? '') || by !== (order?.by ?? '') || skips !== (order?.on_stale === 'skip');
  const known = provider?.order;
  return (
    <Card title="Order">
      <form onSubmit={submit} className="space-y-4 p-4">
        {known && (
          <Checkbox
            checked={order !== null}
            disabled={!canWrite || change.isPending}
            onChange={(on) => save(on ? { ...USUAL, key: known.key, by: known.by, on_stale: 'skip' } : null)}
          >
            In order, drop stale events
          </Checkbox>
        )}
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <TextField
            label="Key"
            hint="Expression over event and request: the events of a value run one after another. Empty: no order."
            placeholder="request.body.data.object.id"
            value={key}
            disabled={!canWrite}
            onChange={({ target }) => setKey(target.value)}
          />
          <TextField
            label="In the order of"
            hint="A number, a time or a version. Empty: in the order in which they come."
            placeholder="request.body.created"
            value={by}
            disabled={!canWrite || key === ''}
            onChange={({ target }) => setBy(target.value)}
          />
        </div>
        <Checkbox checked={skips} disabled={!canWrite || by === ''} onChange={setSkips}>
          Skip an event that is older than the last one that began
        </Checkbox>
        {change.error && <ErrorAlert error={change.error} />}
        {isChanged && (
          <Button type="submit" variant="primary" busy={change.isPending} disabled={!canWrite}>
            Save order
          </Button>
        )}
      </form>
    </Card>
  );
}
