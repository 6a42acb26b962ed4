import { type FormEvent, useState } from 'react';
import type { ProviderDetails, Webhook } from '../../../api/types.ts';
import { schemeLabel, useProvider, useProviders } from '../../../features/webhooks/providers.ts';
import { useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Select } from '../../../ui/field.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card } from '../../../ui/page.tsx';
import { toast } from '../../../ui/toast.tsx';
import { givenSettings, SettingFields } from '../provider/setting-fields.tsx';
import { customVerificationOf, VerificationFields } from '../provider/verification-fields.tsx';

interface ProviderCardProps {
  webhook: Webhook;
  canWrite: boolean;
}

/** The sender of requests, and how they are verified. */
export function ProviderCard({ webhook, canWrite }: ProviderCardProps) {
  const [chosen, setChosen] = useState(webhook.provider);
  const providers = useProviders();
  const provider = useProvider(chosen);
  const error = providers.error ?? provider.error;
  return (
    <Card title="Provider">
      <div className="space-y-4 p-4">
        <Select
          label="Provider"
          hideLabel
          value={chosen ?? ''}
          disabled={!canWrite}
          onChange={({ target }) => setChosen(target.value || null)}
        >
          <option value="">No provider: requests are not verified</option>
          {providers.data?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
        {error && <ErrorAlert error={error} />}
        {chosen !== null && provider.isLoading && <Loading rows={3} />}
        {(chosen === null || provider.data) && (
          <Verification
            // The form is reset when a saved change is loaded, because another provider has other fields.
            key={keyOf(webhook, chosen)}
            webhook={webhook}
            provider={chosen === null ? undefined : provider.data}
            canWrite={canWrite}
          />
        )}
      </div>
    </Card>
  );
}

function keyOf({ provider, verify, deduplicate, settings, verification }: Webhook, chosen: string | null): string {
  return JSON.stringify([chosen, provider, verify, deduplicate, settings, verification]);
}

interface VerificationProps {
  webhook: Webhook;
  /** The chosen one; undefined: none. */
  provider: ProviderDetails | undefined;
  canWrite: boolean;
}

function Verification({ webhook, provider, canWrite }: VerificationProps) {
  const isSame = (provider?.id ?? null) === webhook.provider;
  const before = {
    verify: isSame ? webhook.verify : true,
    deduplicate: isSame ? webhook.deduplicate : true,
    settings: isSame ? webhook.settings : {},
    verification: provider && customVerificationOf(provider, isSame ? webhook.verification : null),
  };
  const [form, setForm] = useState(before);
  const change = useUpdateWebhook(webhook.id);
  const { verify, deduplicate, settings, verification } = form;
  const isChanged = !isSame || JSON.stringify(form) !== JSON.stringify(before);
  const save = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(
      provider
        ? {
            provider: provider.id,
            verify,
            deduplicate,
            settings: givenSettings(settings),
            ...(verification && { verification }),
          }
        : { provider: null },
      { onSuccess: () => toast.success('Provider saved') },
    );
  };
  return (
    <form onSubmit={save} className="space-y-4">
      {provider && (
        <>
          <p className="text-muted">
            {schemeLabel(provider)}.{' '}
            <a href={provider.docs} target="_blank" rel="noreferrer" className="text-accent underline">
              Documentation
            </a>
          </p>
          <Checkbox checked={verify} disabled={!canWrite} onChange={(checked) => setForm({ ...form, verify: checked })}>
            Verify requests
          </Checkbox>
          {!verify && (
            <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
              Anyone who knows the URL can then send requests as {provider.name}. Their events say that they were not
              verified.
            </p>
          )}
          <Checkbox
            checked={deduplicate}
            disabled={!canWrite}
            onChange={(checked) => setForm({ ...form, deduplicate: checked })}
          >
            Count the provider’s retries once, by its own ID of the event or the delivery
          </Checkbox>
          <SettingFields
            provider={provider}
            values={settings}
            disabled={!canWrite}
            error={change.error}
            onChange={(values) => setForm({ ...form, settings: values })}
          />
          {verification && (
            <VerificationFields
              value={verification}
              disabled={!canWrite}
              onChange={(value) => setForm({ ...form, verification: value })}
            />
          )}
        </>
      )}
      {!isSame && <Consequences webhook={webhook} provider={provider} />}
      {change.error && <ErrorAlert error={change.error} />}
      {isChanged && (
        <Button type="submit" variant="primary" busy={change.isPending} disabled={!canWrite}>
          Save provider
        </Button>
      )}
    </form>
  );
}

/** The effect of changing the provider. */
function Consequences({ webhook, provider }: Pick<VerificationProps, 'webhook' | 'provider'>) {
  const texts = [
    webhook.secrets.length > 0 && 'The present secrets are removed.',
    provider?.secret.needed && 'Requests are rejected until you add a secret of the provider.',
    !provider && 'Requests are taken without verification: anyone who knows the URL can send.',
    'The transform stays.',
  ];
  return (
    <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
      {texts.filter(Boolean).join(' ')}
    </p>
  );
}
