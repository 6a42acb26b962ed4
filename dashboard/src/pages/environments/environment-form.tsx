import { type FormEvent, useId, useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { Environment } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { useDeed } from '../../ui/use-action.ts';

const HINTS = {
  named: 'Has keys, webhooks and a signing key of its own, as staging would.',
  branch:
    'Shares keys, webhooks and the signing key with all other branches. One also comes into being when an app registers with its name.',
} as const;

export function EnvironmentForm({ onClose }: { onClose(): void }) {
  const form = useId();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<keyof typeof HINTS>('named');
  const make = useDeed({
    act: () => callApi<Environment>('/v1/environments', { method: 'POST', body: { name, kind } }),
    told: `${name} is made`,
    changes: 'environments',
    onDone: onClose,
    quietly: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Dialog
      open
      title="Make an environment"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={form} busy={make.isPending}>
            Make it
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="space-y-5">
        {make.error && <ErrorAlert error={make.error} />}
        <TextField
          label="Name"
          hint="Letters, digits, _ . - and / between them. It cannot be changed later."
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
      </form>
    </Dialog>
  );
}
