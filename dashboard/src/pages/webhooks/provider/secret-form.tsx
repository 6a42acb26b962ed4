import { type FormEvent, useState } from 'react';
import type { Provider, Webhook } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Select } from '../../../ui/field.tsx';
import { toast } from '../../../ui/toast.tsx';
import { fieldError, SecretField } from './secret-field.tsx';
import { KEEP_OLD, useRotateSecret } from './use-rotate-secret.ts';

interface SecretFormProps {
  webhook: Webhook;
  provider: Pick<Provider, 'scheme' | 'secret'>;
  /** How long the present secret stays valid, unless the user says otherwise. */
  keepOldSeconds: number;
  submitLabel: string;
  onSaved?(): void;
}

/** Takes a new secret of the webhook. */
export function SecretForm({ webhook, provider, keepOldSeconds, submitLabel, onSaved }: SecretFormProps) {
  const [secret, setSecret] = useState('');
  const [keep, setKeep] = useState(keepOldSeconds);
  const rotation = useRotateSecret(webhook.id);
  const hasSecret = webhook.secrets.length > 0;
  const save = (event: FormEvent) => {
    event.preventDefault();
    rotation.mutate(
      { secret, keepOldSeconds: hasSecret ? keep : 0 },
      {
        onSuccess() {
          setSecret('');
          toast.success('Secret saved');
          onSaved?.();
        },
      },
    );
  };
  const refused = fieldError(rotation.error, 'secret', 'secrets');
  return (
    <form onSubmit={save} className="space-y-3">
      <SecretField provider={provider} required value={secret} onChange={setSecret} error={refused} />
      {hasSecret && (
        <Select label="Present secret" value={keep} onChange={({ target }) => setKeep(Number(target.value))}>
          {KEEP_OLD.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </Select>
      )}
      {rotation.error && !refused && <ErrorAlert error={rotation.error} />}
      <Button type="submit" variant="primary" icon="key" busy={rotation.isPending} disabled={secret.trim() === ''}>
        {submitLabel}
      </Button>
    </form>
  );
}
