import { useId } from 'react';
import type { RerunFrom } from './requests.ts';

const CHOICES: [RerunFrom, label: string, hint: string][] = [
  ['start', 'From the start', 'All steps run again.'],
  [
    'failed_step',
    'From the failed step',
    'The results of the steps that finished before it are kept. Runs in which no step failed are skipped.',
  ],
];

/** Choice of where re-runs begin. */
export function RerunChoice({ value, onChange }: { value: RerunFrom; onChange(from: RerunFrom): void }) {
  const name = useId();
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-sm font-medium">Where to begin</legend>
      {CHOICES.map(([from, label, hint]) => (
        <label key={from} className="flex cursor-pointer items-start gap-2">
          <input
            type="radio"
            name={name}
            checked={value === from}
            onChange={() => onChange(from)}
            className="mt-1 accent-(--accent)"
          />
          <span>
            {label}
            <span className="block text-sm text-muted">{hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
