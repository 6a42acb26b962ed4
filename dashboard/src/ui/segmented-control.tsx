/** A few options side by side, kept by the caller. */
export function SegmentedControl<Id extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly (readonly [id: Id, label: string])[];
  value: Id;
  onChange(id: NoInfer<Id>): void;
}) {
  return (
    <fieldset className="inline-flex max-w-full min-w-0 gap-0.5 overflow-x-auto rounded-md bg-sunken p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map(([id, text]) => (
        <button
          key={id}
          type="button"
          aria-pressed={value === id}
          onClick={() => onChange(id)}
          className="h-7 rounded border border-transparent px-2.5 text-sm font-medium whitespace-nowrap text-muted hover:text-text aria-pressed:border-line-strong aria-pressed:bg-surface aria-pressed:text-text"
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}
