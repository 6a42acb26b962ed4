import { Select, TextField } from '../../../ui/field.tsx';

const KINDS = [
  ['header', 'Header'],
  ['query', 'Query parameter'],
  ['body', 'Field of the JSON body'],
  ['form', 'Form field'],
] as const;

/** Location of a value in a request, and the part of the value that counts. */
export interface FieldOfRequest {
  at: string;
  separator?: string | undefined;
  prefix?: string | undefined;
}

interface LocationFieldsProps {
  /** "Signature" */
  label: string;
  value: FieldOfRequest;
  onChange(value: FieldOfRequest): void;
  disabled: boolean;
  prefixHint: string;
}

export function LocationFields({ label, value, onChange, disabled, prefixHint }: LocationFieldsProps) {
  const colon = value.at.indexOf(':');
  const [kind, name] = [value.at.slice(0, colon), value.at.slice(colon + 1)];
  const locate = (newKind: string, newName: string) =>
    onChange({ ...value, at: `${newKind}:${newKind === 'header' ? newName.toLowerCase() : newName}` });
  return (
    <fieldset className="min-w-0 space-y-3">
      <legend className="text-sm font-medium">{label}</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label={`${label}: where`}
          hideLabel
          value={kind}
          disabled={disabled}
          onChange={({ target }) => locate(target.value, name)}
        >
          {KINDS.map(([id, text]) => (
            <option key={id} value={id}>
              {text}
            </option>
          ))}
        </Select>
        <TextField
          label={`${label}: name`}
          hideLabel
          required
          maxLength={200}
          placeholder={kind === 'header' ? 'x-signature' : 'name'}
          className="font-mono text-sm"
          spellCheck={false}
          autoComplete="off"
          value={name}
          disabled={disabled}
          onChange={({ target }) => locate(kind, target.value.trim())}
        />
        <TextField
          label={`${label}: prefix (optional)`}
          hint={prefixHint}
          maxLength={50}
          className="font-mono text-sm"
          spellCheck={false}
          autoComplete="off"
          value={value.prefix ?? ''}
          disabled={disabled}
          onChange={({ target }) => onChange({ ...value, prefix: target.value || undefined })}
        />
        <TextField
          label={`${label}: list separator (optional)`}
          hint="If the value is a list, such as , in t=1,v1=abc"
          maxLength={3}
          className="font-mono text-sm"
          autoComplete="off"
          value={value.separator ?? ''}
          disabled={disabled}
          onChange={({ target }) => onChange({ ...value, separator: target.value || undefined })}
        />
      </div>
    </fieldset>
  );
}
