import type { CustomVerification } from '../../../api/types.ts';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { TextField } from '../../../ui/field.tsx';
import { LocationFields } from './location-fields.tsx';

export type JwtVerification = Extract<CustomVerification, { scheme: 'jwt' }>;

const ALGORITHMS = ['HS256', 'HS384', 'HS512', 'RS256', 'ES256', 'EdDSA'] as const;

interface JwtFieldsProps {
  value: JwtVerification;
  onChange(value: JwtVerification): void;
  disabled: boolean;
}

/** Which tokens of a provider are taken. */
export function JwtFields({ value, onChange, disabled }: JwtFieldsProps) {
  const { token, algorithms, issuer, audience, tolerance = 60 } = value;
  const set = (change: Partial<JwtVerification>) => onChange({ ...value, ...change });
  return (
    <>
      <LocationFields
        label="Token"
        value={token}
        disabled={disabled}
        prefixHint="Before the token, such as Bearer and a space"
        onChange={(changed) => set({ token: changed })}
      />
      <fieldset className="min-w-0">
        <legend className="mb-1 text-sm font-medium">Algorithms</legend>
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          {ALGORITHMS.map((name) => (
            <Checkbox
              key={name}
              checked={algorithms.includes(name)}
              disabled={disabled}
              onChange={(on) =>
                set({ algorithms: ALGORITHMS.filter((one) => (one === name ? on : algorithms.includes(one))) })
              }
            >
              {name}
            </Checkbox>
          ))}
        </div>
      </fieldset>
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="Issuer (optional)"
          hint="The claim iss must be this"
          maxLength={500}
          autoComplete="off"
          value={issuer ?? ''}
          disabled={disabled}
          onChange={({ target }) => set({ issuer: target.value || undefined })}
        />
        <TextField
          label="Audience (optional)"
          hint="The claim aud must have this"
          maxLength={500}
          autoComplete="off"
          value={audience ?? ''}
          disabled={disabled}
          onChange={({ target }) => set({ audience: target.value || undefined })}
        />
        <TextField
          label="Tolerance in seconds"
          hint="For the times in the token"
          type="number"
          min={0}
          max={86_400}
          required
          value={tolerance}
          disabled={disabled}
          onChange={({ target }) => set({ tolerance: Number(target.value) })}
        />
      </div>
    </>
  );
}
