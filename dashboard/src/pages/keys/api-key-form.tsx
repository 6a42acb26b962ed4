import { type FormEvent, useId, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnvironments } from '../../api/environment.ts';
import type { ApiKey, NewApiKey } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { useDeed } from '../../ui/use-action.ts';

const ACCESS: [ApiKey['access'], string][] = [
  ['read', 'read: look at everything but secrets'],
  ['write', 'write: also make webhooks, register apps, retry, cancel'],
  ['admin', 'admin: also keys, environments, members'],
];

/** @param onMade is given its secret, which is never told again */
export function ApiKeyForm({ onClose, onMade }: { onClose(): void; onMade(made: NewApiKey): void }) {
  const form = useId();
  const environments = useEnvironments();
  const [name, setName] = useState('');
  const [access, setAccess] = useState<ApiKey['access']>('read');
  const [environment, setEnvironment] = useState('');
  const save = useDeed({
    act: async () => {
      const body = { name, access, environment: environment || null };
      onMade((await callApi<NewApiKey>('/v1/api-keys', { method: 'POST', body })).data);
    },
    changes: 'api-keys',
    onDone: onClose,
    quietly: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Dialog
      open
      title="Make an API key"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={form} busy={save.isPending}>
            Make the key
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="space-y-5">
        {save.error && <ErrorAlert error={save.error} />}
        <TextField
          label="Name"
          hint="Which program uses it"
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
          hint="Held to one, it sees and changes nothing of another, and nothing of the account."
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
      </form>
    </Dialog>
  );
}
