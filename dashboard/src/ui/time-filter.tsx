import { useEffect, useRef } from 'react';
import { fromLocalInput, searchParamsOf, selectedRange, TIME_RANGES, toLocalInput } from '../lib/time-range.ts';
import { Select, TextField } from './field.tsx';

export interface TimeBounds {
  from?: string | undefined;
  to?: string | undefined;
}

/** Choice of the time range of a list: one of the usual, or between two times.
 *  @param what happened then, for screen readers: Queued
 *  @param onChange isTyped: one of several changes in a row */
export function TimeFilter({
  what,
  from,
  to,
  onChange,
}: TimeBounds & { what: string; onChange(bounds: TimeBounds, isTyped?: boolean): void }) {
  const range = selectedRange(from, to);
  return (
    <>
      <Select
        label="Time"
        hideLabel
        value={range}
        onChange={({ target }) => onChange(searchParamsOf(target.value, Date.now()))}
      >
        {TIME_RANGES.map(([id, label]) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </Select>
      {range === 'between' && (
        <div className="order-last col-span-full flex min-w-0 flex-wrap items-center gap-2">
          <DateTimeField label={`${what} after`} value={from} onChange={(value) => onChange({ from: value }, true)} />
          <span className="text-sm text-muted">and</span>
          <DateTimeField label={`${what} before`} value={to} onChange={(value) => onChange({ to: value }, true)} />
        </div>
      )}
    </>
  );
}

function DateTimeField({
  label,
  value,
  onChange,
}: {
  label: string;
  value?: string | undefined;
  onChange(value: string | undefined): void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const shown = toLocalInput(value);
  useEffect(() => {
    // Another part of the page may select a range, such as a histogram.
    if (field.current && field.current !== document.activeElement) field.current.value = shown;
  }, [shown]);
  return (
    <TextField
      ref={field}
      label={label}
      hideLabel
      type="datetime-local"
      step={1}
      // Uncontrolled: a controlled input would drop an incomplete date.
      defaultValue={shown}
      onChange={({ target }) => {
        if (!target.validity.badInput) onChange(fromLocalInput(target.value));
      }}
    />
  );
}
