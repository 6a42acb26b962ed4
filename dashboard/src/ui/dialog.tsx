import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';

interface DialogProps {
  open: boolean;
  title: string;
  onClose(): void;
  children: ReactNode;
  footer?: ReactNode;
  wide?: boolean;
}

/** The browser's modal dialog: it traps focus, and Escape closes it. */
export function Dialog({ open, title, onClose, children, footer, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    if (open && !dialog.current?.open) {
      dialog.current?.showModal();
      // React's `autoFocus` comes before the dialog is shown, which then gives the focus to its first button.
      dialog.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    }
    if (!open) dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      // React bubbles the close event of a nested dialog up to this dialog.
      onClose={({ target, currentTarget }) => {
        if (target === currentTarget) onClose();
      }}
      className={`m-auto max-h-[85vh] w-[calc(100vw-2rem)] rounded-xl border border-line bg-surface p-0 text-left text-base font-normal whitespace-normal text-text shadow-2xl ${wide ? 'max-w-4xl' : 'max-w-lg'}`}
    >
      {open && (
        <div className="flex max-h-[85vh] flex-col">
          <header className="flex items-center justify-between border-b border-line py-2 pr-2 pl-5">
            <h2 id={titleId} className="font-semibold">
              {title}
            </h2>
            <IconButton icon="close" label="Close" onClick={onClose} />
          </header>
          <div className="min-h-0 flex-1 overflow-auto p-5">{children}</div>
          {footer && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer>
          )}
        </div>
      )}
    </dialog>
  );
}

interface ConfirmProps {
  /** Label of the button that opens the dialog. */
  children: ReactNode;
  variant?: 'danger' | 'secondary' | 'primary' | 'ghost';
  icon?: Parameters<typeof Button>[0]['icon'];
  disabled?: boolean;
  /** For screen readers, where the text alone does not say what it is about. */
  label?: string;
  title: string;
  /** Consequences, and whether they can be undone. */
  text: ReactNode;
  confirmLabel: string;
  /** The dialog stays open until this has settled. */
  onConfirm(): unknown;
}

/** A button that asks for confirmation first. */
export function ConfirmButton({
  children,
  variant = 'danger',
  icon,
  disabled = false,
  label,
  title,
  text,
  confirmLabel,
  onConfirm,
}: ConfirmProps) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  const confirm = async () => {
    try {
      await onConfirm();
    } finally {
      close();
    }
  };
  return (
    <>
      <Button variant={variant} icon={icon} disabled={disabled} aria-label={label} onClick={() => setOpen(true)}>
        {children}
      </Button>
      <ConfirmDialog open={open} title={title} confirmLabel={confirmLabel} onClose={close} onConfirm={confirm}>
        {text}
      </ConfirmDialog>
    </>
  );
}

interface ConfirmDialogProps extends Pick<DialogProps, 'open' | 'title' | 'onClose' | 'children'> {
  confirmLabel: string;
  variant?: 'danger' | 'primary';
  icon?: Parameters<typeof Button>[0]['icon'];
  cancelLabel?: string;
  /** The caller closes the dialog afterwards. */
  onConfirm(): unknown;
}

/** Asks before it acts. */
export function ConfirmDialog({
  confirmLabel,
  variant = 'danger',
  icon,
  cancelLabel = 'Cancel',
  onConfirm,
  ...dialog
}: ConfirmDialogProps) {
  const [busy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
    } finally {
      setBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={dialog.onClose}>{cancelLabel}</Button>
      <Button variant={variant} icon={icon} busy={busy} onClick={() => void confirm()}>
        {confirmLabel}
      </Button>
    </>
  );
  return <Dialog {...dialog} footer={footer} />;
}
