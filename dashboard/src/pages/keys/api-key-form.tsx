import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnvironments } from '../../api/environment.ts';
import type { ApiKey, NewApiKey } from '../../api/types.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';

const ACCESS: [ApiKey['access'], string][] = [
  ['read', 'read: view everything except secrets'],
  ['write', 'write: also create webhooks, register apps, re-run and cancel runs'],
  ['admin', 'admin: also manage keys, environments and users'],
];

/** @param onCreated receives the secret, which the API returns only once */
export function ApiKeyForm({ onClose, onCreated }: { onClose(): void; onCreated(created: NewApiKey): void }) {
  const environments = useEnvironments();
  const [name, setName] = useState('');
  const [access, setAccess] = useState<ApiKey['access']>('read');
  const [environment, setEnvironment] = useState('');
  const save = useAction({
    run: async () => {
      const body = { name, access, environment: environment || null };
      onCreated((await callApi<NewApiKey>('/v1/api-keys', { method: 'POST', body })).data);
    },
    invalidates: 'api-keys',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title="Create API key"
      submitLabel="Create key"
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="The program that uses it"
        value={name}
        required
        maxLength={100}
        onChange={({ target }) => setName(target.value)}
      />
      <Select label="Access" value={access} onChange={({ target }) => setAccess(target.value as ApiKey['access'])}>
        {ACCESS.map(([id, meaning]) => (
          <option key={id} value={id}>
            {meaning}
          </option>
        ))}
      </Select>
      <Select
        label="Environment"
        hint="A key for one environment cannot access other environments or installation settings."
        value={environment}
        onChange={({ target }) => setEnvironment(target.value)}
      >
        <option value="">all environments</option>
        {environments.map((one) => (
          <option key={one.name} value={one.name}>
            {one.name}
          </option>
        ))}
      </Select>
    </FormDialog>
  );
}
