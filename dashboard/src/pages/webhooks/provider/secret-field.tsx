import { useState } from 'react';
import type { Provider } from '../../../api/types.ts';
import { capitalize } from '../../../lib/capitalize.ts';
import { Button } from '../../../ui/button.tsx';
import { TextArea, TextField } from '../../../ui/field.tsx';

/** Public keys have several lines, and are no secret. */
const IN_LINES: readonly string[] = ['public-key', 'jwt'];

interface SecretFieldProps {
  provider: Pick<Provider, 'scheme' | 'secret'>;
  /** Default: as the provider calls it. */
  label?: string;
  value: string;
  onChange(value: string): void;
  error?: string | undefined;
  required?: boolean;
}

/** Input for a pasted secret, which is hidden until the user shows it. */
export function SecretField({ provider, label, value, onChange, error, required = false }: SecretFieldProps) {
  const { where, example } = provider.secret;
  const [visible, setVisible] = useState(false);
  const common = {
    label: label ?? provider.secret.label,
    hint: where,
    placeholder: example ?? '',
    autoComplete: 'off',
    spellCheck: false,
    maxLength: 4_096,
    required,
    value,
    error,
  };
  if (IN_LINES.includes(provider.scheme)) {
    return <TextArea {...common} onChange={({ target }) => onChange(target.value.trimStart())} />;
  }
  return (
    <div className="flex items-start gap-2">
      <div className="min-w-0 flex-1">
        <TextField
          {...common}
          // This is not a password of the user, so password managers must ignore it.
          autoComplete="one-time-code"
          className="font-mono text-sm"
          type={visible ? 'text' : 'password'}
          onChange={({ target }) => onChange(target.value.trim())}
        />
      </div>
      <Button className="mt-6" aria-pressed={visible} onClick={() => setVisible(!visible)}>
        {visible ? 'Hide' : 'Show'}
      </Button>
    </div>
  );
}

/** The beginning of a message about the field. */
const BEFORE_REASON = /^.*?field "[^"]*": /s;

/** The API's message about one of the fields, for that field. */
export function fieldError(error: Error | null, ...fields: string[]): string | undefined {
  const { details } = (error ?? {}) as { details?: { field?: string } };
  if (!error || !fields.includes(details?.field ?? '')) return undefined;
  const text = error.message.replace(BEFORE_REASON, '');
  return capitalize(text);
}
