import { type FormEvent, useState } from 'react';
import { useEnv, useEnvironments } from '../../../api/environment.ts';
import type { ProviderDetails } from '../../../api/types.ts';
import { ALL_BRANCHES } from '../../../lib/environment-scope.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Select, TextField } from '../../../ui/field.tsx';
import { fieldError, SecretField } from '../provider/secret-field.tsx';
import { givenSettings, SettingFields } from '../provider/setting-fields.tsx';
import { customVerificationOf, VerificationFields } from '../provider/verification-fields.tsx';
import type { NewWebhook } from './use-create-webhook.ts';

interface WebhookFormProps {
  /** ID of the form, for a button outside. */
  id: string;
  /** undefined: none. */
  provider: ProviderDetails | undefined;
  error: Error | null;
  onCreate(webhook: NewWebhook): void;
}

/** Name, environment, secrets and settings of a new webhook. */
export function WebhookForm({ id, provider, error, onCreate }: WebhookFormProps) {
  const env = useEnv();
  const names = useEnvironmentNames();
  const [name, setName] = useState(provider?.kind === 'provider' ? provider.name : '');
  const [environment, setEnvironment] = useState(names.includes(env) ? env : ALL_BRANCHES);
  const [secrets, setSecrets] = useState(['']);
  const [settings, setSettings] = useState<Record<string, string>>({});
  const [verification, setVerification] = useState(provider && customVerificationOf(provider));
  const shown = ['secrets', ...(provider?.settings.map((setting) => `settings.${setting.name}`) ?? [])];
  const isShown = provider !== undefined && fieldError(error, ...shown) !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const pasted = secrets.filter((secret) => secret.trim() !== '');
    onCreate({
      name,
      environment,
      ...(provider && { provider: provider.id, settings: givenSettings(settings) }),
      ...(pasted.length > 0 && { secrets: pasted }),
      ...(verification && { verification }),
    });
  };
  return (
    <form id={id} onSubmit={submit} className="space-y-4">
      <TextField
        label="Name"
        required
        maxLength={100}
        autoComplete="off"
        autoFocus
        data-autofocus
        placeholder="Shop orders"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Select
        label="Environment"
        hint="Branch environments share webhooks; each request names its branch."
        value={environment}
        onChange={({ target }) => setEnvironment(target.value)}
      >
        {names.map((one) => (
          <option key={one}>{one}</option>
        ))}
        <option value={ALL_BRANCHES}>all branches</option>
      </Select>
      {provider && (
        <>
          {provider.secret.needed && (
            <Secrets provider={provider} values={secrets} onChange={setSecrets} error={error} />
          )}
          <SettingFields provider={provider} values={settings} onChange={setSettings} error={error} />
          {verification && <VerificationFields value={verification} onChange={setVerification} />}
        </>
      )}
      {error && !isShown && <ErrorAlert error={error} />}
    </form>
  );
}

interface SecretsProps {
  provider: ProviderDetails;
  values: readonly string[];
  onChange(values: string[]): void;
  error: Error | null;
}

/** One secret, or two while the provider changes it. */
function Secrets({ provider, values, onChange, error }: SecretsProps) {
  const [present = '', former] = values;
  return (
    <>
      <SecretField
        provider={provider}
        value={present}
        onChange={(value) => onChange([value, ...values.slice(1)])}
        error={fieldError(error, 'secrets')}
      />
      {former === undefined ? (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
          <span>Not known yet? Leave it empty: the next page asks for it.</span>
          {present !== '' && (
            <Button variant="ghost" icon="plus" onClick={() => onChange([present, ''])}>
              Second secret
            </Button>
          )}
        </div>
      ) : (
        <SecretField
          provider={provider}
          label={`${provider.secret.label} (second)`}
          value={former}
          onChange={(value) => onChange([present, value])}
        />
      )}
    </>
  );
}

function useEnvironmentNames(): string[] {
  const environments = useEnvironments().filter(({ kind, archived_at }) => kind !== 'branch' && archived_at === null);
  return [...new Set(['production', ...environments.map(({ name }) => name)])];
}
