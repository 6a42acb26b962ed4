import type { ReactNode } from 'react';

interface CheckboxProps {
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
  children: ReactNode;
}

export function Checkbox({ checked, onChange, disabled = false, children }: CheckboxProps) {
  return (
    <label className="flex items-center gap-2 text-sm">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={({ target }) => onChange(target.checked)}
        className="size-4 shrink-0 accent-(--accent)"
      />
      <span className="min-w-0 break-words">{children}</span>
    </label>
  );
}
