import { HOUR_MS, MINUTE_MS } from '../../../lib/time-units.ts';
import { Select, TextField } from '../../../ui/field.tsx';

const TIME_RANGES = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['6h', 'Last 6 hours'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
] as const;
const CUSTOM = 'custom';

interface TimeRangeFieldsProps {
  from?: string | undefined;
  to?: string | undefined;
  onChange(range: { from?: string | undefined; to?: string | undefined }, replace?: boolean): void;
}

/** A range up to now, or a custom one to the second. */
export function TimeRangeFields({ from, to, onChange }: TimeRangeFieldsProps) {
  const custom = to !== undefined || !TIME_RANGES.some(([value]) => value === (from ?? ''));
  return (
    <>
      <Select
        label="Time"
        hideLabel
        value={custom ? CUSTOM : (from ?? '')}
        onChange={({ target: { value } }) => {
          if (value === CUSTOM) onChange({ from: new Date(Date.now() - HOUR_MS).toISOString(), to: undefined });
          else onChange({ from: value || undefined, to: undefined });
        }}
      >
        {TIME_RANGES.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
        <option value={CUSTOM}>Custom range</option>
      </Select>
      {custom && (
        <div className="order-last col-span-full grid grid-cols-1 gap-3 sm:grid-cols-2 lg:max-w-lg">
          <DateTimeField label="From" at={from} onChange={(at) => onChange({ from: at, to }, true)} />
          <DateTimeField label="To" at={to} onChange={(at) => onChange({ from, to: at }, true)} />
        </div>
      )}
    </>
  );
}

function DateTimeField({
  label,
  at,
  onChange,
}: {
  label: string;
  at: string | undefined;
  onChange(at: string | undefined): void;
}) {
  return (
    <TextField
      type="datetime-local"
      step={1}
      label={label}
      value={toLocalInput(at)}
      onChange={({ target: { value } }) => onChange(value ? new Date(value).toISOString() : undefined)}
    />
  );
}

/** Value of a `datetime-local` input, in the browser's time zone. */
function toLocalInput(at: string | undefined): string {
  const ms = Date.parse(at ?? '');
  if (Number.isNaN(ms)) return '';
  return new Date(ms - new Date(ms).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19);
}
