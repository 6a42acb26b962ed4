import type { ComponentProps, ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

const VARIANTS = {
  /** The main action of a page or dialog. */
  primary: 'bg-accent text-accent-text border-transparent hover:brightness-110',
  secondary: 'bg-surface text-text border-line hover:border-line-strong',
  ghost: 'bg-transparent text-muted border-transparent hover:text-text hover:bg-sunken',
  /** Destructive actions. */
  danger: 'bg-surface text-bad border-line hover:border-bad',
} as const;

interface ButtonProps extends ComponentProps<'button'> {
  variant?: keyof typeof VARIANTS;
  icon?: IconName | undefined;
  /** An action is running: the button is disabled meanwhile. */
  busy?: boolean;
  children?: ReactNode;
}

export const buttonClass = (variant: keyof typeof VARIANTS = 'secondary') =>
  `inline-flex h-8 items-center gap-1.5 rounded-md border px-3 text-sm font-medium whitespace-nowrap disabled:opacity-50 ${VARIANTS[variant]}`;

export function Button({
  variant = 'secondary',
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
      className={`${buttonClass(variant)} ${className}`}
    >
      {icon && <Icon name={busy ? 'clock' : icon} />}
      {children}
    </button>
  );
}

/** A button with an icon and no text. */
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

/** Below a list that has further pages. */
export function ShowMoreButton({ busy, onClick }: { busy: boolean; onClick(): void }) {
  return (
    <div className="mt-4 text-center">
      <Button busy={busy} onClick={onClick}>
        Show more
      </Button>
    </div>
  );
}
