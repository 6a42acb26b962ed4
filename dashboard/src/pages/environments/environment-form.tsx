import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { Environment } from '../../api/types.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';

const HINTS = {
  named: 'Has its own keys, webhooks and signing key, for example staging.',
  branch:
    'Shares keys, webhooks and the signing key with all other branches. Also created when an app registers with its name.',
} as const;

export function EnvironmentForm({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<keyof typeof HINTS>('named');
  const create = useAction({
    run: () => callApi<Environment>('/v1/environments', { method: 'POST', body: { name, kind } }),
    successMessage: `${name} created`,
    invalidates: 'environments',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title="Create environment"
      submitLabel="Create"
      busy={create.isPending}
      error={create.error}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Letters and digits, separated by _ . - or /. It cannot be changed later."
        value={name}
        required
        maxLength={64}
        spellCheck={false}
        onChange={({ target }) => setName(target.value)}
      />
      <Select
        label="Kind"
        hint={HINTS[kind]}
        value={kind}
        onChange={({ target }) => setKind(target.value as keyof typeof HINTS)}
      >
        <option value="named">named</option>
        <option value="branch">branch</option>
      </Select>
    </FormDialog>
  );
}
