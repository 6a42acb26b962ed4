import type { CustomVerification } from '../../../api/types.ts';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Select, TextField } from '../../../ui/field.tsx';
import { LocationFields } from './location-fields.tsx';

export type HmacVerification = Extract<CustomVerification, { scheme: 'hmac' }>;
type Timestamp = NonNullable<HmacVerification['timestamp']>;

const PLACEHOLDERS = [
  ['{body}', 'The body, byte for byte'],
  ['{timestamp}', 'The timestamp, as it came'],
  ['{url}', 'URL of the webhook with its query string'],
  ['{path}', 'Path of the URL with its query string'],
  ['{method}', 'HTTP method'],
  ['{header:x-id}', 'A header; also {query:…}, {body:…} and {form:…}'],
] as const;
const UNITS = [
  ['s', 'Unix seconds'],
  ['ms', 'Unix milliseconds'],
  ['iso', 'ISO 8601'],
] as const;
const NEW_TIMESTAMP: Timestamp = { at: 'header:x-timestamp', unit: 's', tolerance: 300 };

interface HmacFieldsProps {
  value: HmacVerification;
  onChange(value: HmacVerification): void;
  disabled: boolean;
}

/** How a provider signs with an HMAC. */
export function HmacFields({ value, onChange, disabled }: HmacFieldsProps) {
  const { algorithm, encoding, signature, signed, timestamp, key = {} } = value;
  const set = (change: Partial<HmacVerification>) => onChange({ ...value, ...change });
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <Select
          label="Algorithm"
          value={algorithm}
          disabled={disabled}
          onChange={({ target }) => set({ algorithm: target.value as HmacVerification['algorithm'] })}
        >
          {['sha256', 'sha512', 'sha384', 'sha1'].map((name) => (
            <option key={name} value={name}>
              {name.replace('sha', 'HMAC-SHA-')}
            </option>
          ))}
        </Select>
        <Select
          label="Encoding"
          value={encoding}
          disabled={disabled}
          onChange={({ target }) => set({ encoding: target.value as HmacVerification['encoding'] })}
        >
          <option value="hex">Hexadecimal</option>
          <option value="base64">Base64</option>
          <option value="base64url">Base64 for URLs</option>
        </Select>
        <Select
          label="The secret is"
          value={key.encoding ?? 'utf8'}
          disabled={disabled}
          onChange={({ target }) => set({ key: { ...key, encoding: target.value as 'utf8' } })}
        >
          <option value="utf8">Text</option>
          <option value="base64">Base64</option>
          <option value="hex">Hexadecimal</option>
        </Select>
      </div>
      <LocationFields
        label="Signature"
        value={signature}
        disabled={disabled}
        prefixHint="Before the signature, such as sha256="
        onChange={(changed) => set({ signature: changed })}
      />
      <div>
        <TextField
          label="What is signed"
          required
          maxLength={500}
          placeholder="{timestamp}.{body}"
          className="font-mono text-sm"
          spellCheck={false}
          autoComplete="off"
          value={signed}
          disabled={disabled}
          onChange={({ target }) => set({ signed: target.value })}
        />
        <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-xs text-muted">
          {PLACEHOLDERS.map(([text, meaning]) => (
            <div key={text} className="contents">
              <dt className="font-mono">{text}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </div>
      <Checkbox
        checked={timestamp !== undefined}
        disabled={disabled}
        onChange={(on) => set({ timestamp: on ? NEW_TIMESTAMP : undefined })}
      >
        Requests have a timestamp: reject old ones
      </Checkbox>
      {timestamp && (
        <TimestampFields value={timestamp} disabled={disabled} onChange={(changed) => set({ timestamp: changed })} />
      )}
    </>
  );
}

interface TimestampFieldsProps {
  value: Timestamp;
  onChange(value: Timestamp): void;
  disabled: boolean;
}

function TimestampFields({ value, onChange, disabled }: TimestampFieldsProps) {
  return (
    <>
      <LocationFields
        label="Timestamp"
        value={value}
        disabled={disabled}
        prefixHint="Before the timestamp, such as t="
        onChange={(located) => onChange({ ...value, ...located })}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label="Unit"
          value={value.unit}
          disabled={disabled}
          onChange={({ target }) => onChange({ ...value, unit: target.value as Timestamp['unit'] })}
        >
          {UNITS.map(([id, text]) => (
            <option key={id} value={id}>
              {text}
            </option>
          ))}
        </Select>
        <TextField
          label="Tolerance in seconds"
          type="number"
          min={1}
          max={86_400}
          required
          value={value.tolerance}
          disabled={disabled}
          onChange={({ target }) => onChange({ ...value, tolerance: Number(target.value) })}
        />
      </div>
    </>
  );
}
