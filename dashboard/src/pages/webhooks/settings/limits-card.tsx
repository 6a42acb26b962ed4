import { type FormEvent, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useProvider } from '../../../features/webhooks/providers.ts';
import { useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextArea, TextField } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { toast } from '../../../ui/toast.tsx';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies Webhook['methods'];

/** Methods and size of the requests that are taken. */
export function LimitsCard({ webhook, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const { data: provider } = useProvider(webhook.provider);
  const [methods, setMethods] = useState(webhook.methods);
  const [bytes, setBytes] = useState(webhook.max_body_bytes?.toString() ?? '');
  const [largest, setLargest] = useState(webhook.large_bodies?.max_bytes.toString() ?? '');
  const [fields, setFields] = useState(webhook.large_bodies?.fields.join('\n') ?? '');
  const change = useUpdateWebhook(webhook.id);
  const usual = provider?.methods ?? ['POST'];
  const isChanged =
    !isSame(methods, webhook.methods) ||
    bytes !== (webhook.max_body_bytes?.toString() ?? '') ||
    largest !== (webhook.large_bodies?.max_bytes.toString() ?? '') ||
    fields !== (webhook.large_bodies?.fields.join('\n') ?? '');
  const save = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(
      {
        methods: isSame(methods, usual) ? null : methods,
        max_body_bytes: bytes === '' ? null : Number(bytes),
        large_bodies:
          largest === ''
            ? null
            : { max_bytes: Number(largest), fields: fields.split('\n').filter((path) => path !== '') },
      },
      { onSuccess: () => toast.success('Request limits saved') },
    );
  };
  return (
    <Card title="Requests">
      <form onSubmit={save} className="space-y-4 p-4">
        <fieldset className="min-w-0">
          <legend className="mb-1 text-sm font-medium">Methods</legend>
          <div className="flex flex-wrap gap-x-4 gap-y-1">
            {METHODS.map((name) => (
              <Checkbox
                key={name}
                checked={methods.includes(name)}
                disabled={!canWrite}
                onChange={(on) => setMethods(METHODS.filter((one) => (one === name ? on : methods.includes(one))))}
              >
                {name}
              </Checkbox>
            ))}
          </div>
          <p className="mt-1 text-xs text-muted">
            {webhook.provider === null ? 'Usually POST.' : `The provider sends ${usual.join(', ')}.`} Other methods get
            a 405 response.
          </p>
        </fieldset>
        <div className="max-w-xs">
          <TextField
            label="Size limit in bytes"
            hint="Of the body. Empty: the limit of the environment. Larger requests get a 413 response."
            type="number"
            min={1}
            placeholder="65536"
            value={bytes}
            disabled={!canWrite}
            onChange={({ target }) => setBytes(target.value)}
          />
        </div>
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <TextField
            label="Keep larger bodies up to this many bytes"
            hint="In the archive. Empty: they are refused."
            type="number"
            min={1}
            placeholder="26214400"
            value={largest}
            disabled={!canWrite}
            onChange={({ target }) => setLargest(target.value)}
          />
          <TextArea
            label="Fields of large bodies"
            hint="For the transform, one path per line; * stands for every item of a list."
            placeholder={'action\ncommits.*.id'}
            value={fields}
            disabled={!canWrite || largest === ''}
            onChange={({ target }) => setFields(target.value)}
          />
        </div>
        {change.error && <ErrorAlert error={change.error} />}
        {isChanged && (
          <Button type="submit" variant="primary" busy={change.isPending} disabled={!canWrite || methods.length === 0}>
            Save limits
          </Button>
        )}
      </form>
    </Card>
  );
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one));
}
