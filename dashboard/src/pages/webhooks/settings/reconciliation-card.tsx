import { type FormEvent, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useProvider } from '../../../features/webhooks/providers.ts';
import { useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { toast } from '../../../ui/toast.tsx';
import { SecretField } from '../provider/secret-field.tsx';
import { givenSettings } from '../provider/setting-fields.tsx';

const KEY = { example: null, pattern: null, needed: true };

/** Access to the list of what the provider sent. */
export function ReconciliationCard({ webhook, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const { data: provider } = useProvider(webhook.provider);
  const { reconciliation } = webhook;
  const [account, setAccount] = useState(reconciliation?.account ?? {});
  const [key, setKey] = useState('');
  const change = useUpdateWebhook(webhook.id);
  const list = provider?.sent_list;
  if (!list) return null;
  const save = (event: FormEvent) => {
    event.preventDefault();
    const given = { account: givenSettings(account), ...(key !== '' && { key }) };
    change.mutate({ reconciliation: given }, { onSuccess: () => done('Reconciliation saved') });
  };
  const done = (message: string) => {
    setKey('');
    toast.success(message);
  };
  return (
    <Card title="Reconciliation">
      <form onSubmit={save} className="space-y-4 p-4">
        <p className="text-muted">
          Compares what came with{' '}
          <a className="text-accent underline" href={list.docs}>
            what {provider.name} sent
          </a>
          , every hour, and recovers what is missing.
        </p>
        {list.account.map(({ name, label, description }) => (
          <TextField
            key={name}
            label={list.account.length === 1 ? label : `${label} (if it is one)`}
            hint={description}
            autoComplete="off"
            disabled={!canWrite}
            value={account[name] ?? ''}
            onChange={({ target }) => setAccount({ ...account, [name]: target.value })}
          />
        ))}
        {canWrite && (
          <SecretField
            // The private key of a GitHub App has several lines.
            provider={{ scheme: account.app ? 'public-key' : 'token', secret: { ...list.key, ...KEY } }}
            required={reconciliation === null}
            value={key}
            onChange={setKey}
          />
        )}
        {reconciliation && (
          <p className="text-xs text-muted">
            The present key was saved <Time at={reconciliation.key_added_at} />. Empty: it stays.
          </p>
        )}
        {change.error && <ErrorAlert error={change.error} />}
        <div className="flex gap-2">
          <Button type="submit" variant="primary" busy={change.isPending} disabled={!canWrite}>
            Save reconciliation
          </Button>
          {reconciliation && (
            <Button
              disabled={!canWrite}
              onClick={() => change.mutate({ reconciliation: null }, { onSuccess: () => done('Reconciliation ended') })}
            >
              End reconciliation
            </Button>
          )}
        </div>
      </form>
    </Card>
  );
}
