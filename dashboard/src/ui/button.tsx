import type { ComponentProps, ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

const VARIANTS = {
  /** The one thing to do here. */
  primary: 'bg-accent text-accent-text border-transparent hover:brightness-110',
  plain: 'bg-surface text-text border-line hover:border-line-strong',
  quiet: 'bg-transparent text-muted border-transparent hover:text-text hover:bg-sunken',
  /** What cannot be undone. */
  danger: 'bg-surface text-bad border-line hover:border-bad',
} as const;

interface ButtonProps extends ComponentProps<'button'> {
  variant?: keyof typeof VARIANTS;
  icon?: IconName | undefined;
  /** Shows that it is at work, and takes no second click. */
  busy?: boolean;
  children?: ReactNode;
}

export const buttonClass = (look: keyof typeof VARIANTS = 'plain') =>
  `inline-flex h-8 items-center gap-1.5 rounded-md border px-3 text-sm font-medium whitespace-nowrap disabled:opacity-50 ${VARIANTS[look]}`;

export function Button({
  variant: look = 'plain',
  icon,
  busy = false,
  disabled,
  className = '',
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy}
      className={`${buttonClass(look)} ${className}`}
    >
      {icon && <Icon name={busy ? 'clock' : icon} />}
      {children}
    </button>
  );
}

/** A button that is an icon alone. */
export function IconButton({
  icon,
  label,
  className = '',
  ...rest
}: ComponentProps<'button'> & { icon: IconName; label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`inline-flex size-8 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-text disabled:opacity-50 ${className}`}
    >
      <Icon name={icon} />
    </button>
  );
}
