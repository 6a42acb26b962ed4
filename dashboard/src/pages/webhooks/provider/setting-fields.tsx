import type { ProviderDetails } from '../../../api/types.ts';
import { TextField } from '../../../ui/field.tsx';
import { fieldError } from './secret-field.tsx';

interface SettingFieldsProps {
  provider: Pick<ProviderDetails, 'settings'>;
  values: Readonly<Record<string, string>>;
  onChange(values: Record<string, string>): void;
  disabled?: boolean;
  error: Error | null;
}

/** Settings that the provider needs in addition to secrets. */
export function SettingFields({ provider, values, onChange, disabled = false, error }: SettingFieldsProps) {
  return provider.settings.map(({ name, label, description, required }) => (
    <TextField
      key={name}
      label={required ? label : `${label} (optional)`}
      hint={description}
      required={required}
      maxLength={500}
      autoComplete="off"
      disabled={disabled}
      value={values[name] ?? ''}
      error={fieldError(error, `settings.${name}`)}
      onChange={({ target }) => onChange({ ...values, [name]: target.value })}
    />
  ));
}

/** Settings without the empty ones. */
export function givenSettings(values: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(values).map(([name, value]) => [name, value.trim()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}
