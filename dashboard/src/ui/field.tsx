import { type ComponentProps, type ReactNode, useId } from 'react';

const INPUT =
  'w-full rounded-md border border-line-strong bg-surface px-2.5 text-base text-text placeholder:text-muted disabled:opacity-60';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** Only screen readers get the label. */
  hideLabel?: boolean;
}

function FieldLayout({
  id,
  label,
  hint,
  error,
  hideLabel,
  children,
}: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'mb-1 block text-sm font-medium'}>
        {label}
      </label>
      {children}
      {hint && <p className="mt-1 text-xs text-muted">{hint}</p>}
      {error && (
        <p role="alert" className="mt-1 text-xs text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

export function TextField({
  label,
  hint,
  error,
  hideLabel,
  className = '',
  ...rest
}: FieldProps & ComponentProps<'input'>) {
  const id = useId();
  return (
    <FieldLayout id={id} label={label} hint={hint} error={error} hideLabel={hideLabel ?? false}>
      <input id={id} {...rest} aria-invalid={error !== undefined} className={`h-8 ${INPUT} ${className}`} />
    </FieldLayout>
  );
}

export function TextArea({
  label,
  hint,
  error,
  hideLabel,
  className = '',
  ...rest
}: FieldProps & ComponentProps<'textarea'>) {
  const id = useId();
  return (
    <FieldLayout id={id} label={label} hint={hint} error={error} hideLabel={hideLabel ?? false}>
      <textarea
        id={id}
        {...rest}
        aria-invalid={error !== undefined}
        className={`min-h-24 py-2 font-mono text-sm ${INPUT} ${className}`}
      />
    </FieldLayout>
  );
}

export function Select({
  label,
  hint,
  error,
  hideLabel,
  children,
  className = '',
  ...rest
}: FieldProps & ComponentProps<'select'>) {
  const id = useId();
  return (
    <FieldLayout id={id} label={label} hint={hint} error={error} hideLabel={hideLabel ?? false}>
      <select id={id} {...rest} className={`h-8 ${INPUT} ${className}`}>
        {children}
      </select>
    </FieldLayout>
  );
}
