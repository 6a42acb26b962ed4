import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';

interface DialogProps {
  open: boolean;
  title: string;
  onClose(): void;
  children: ReactNode;
  /** Buttons at its foot. */
  footer?: ReactNode;
  wide?: boolean;
}

/** The browser's own modal dialog: it keeps the focus, and Escape closes it. */
export function Dialog({ open, title, onClose, children, footer: foot, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open) dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      // React lets the close of a dialog within this one bubble up to it.
      onClose={({ target, currentTarget }) => {
        if (target === currentTarget) onClose();
      }}
      className={`m-auto max-h-[85vh] w-[calc(100vw-2rem)] rounded-xl border border-line bg-surface p-0 text-text shadow-2xl ${wide ? 'max-w-4xl' : 'max-w-lg'}`}
    >
      {open && (
        <div className="flex max-h-[85vh] flex-col">
          <header className="flex items-center justify-between border-b border-line py-2 pr-2 pl-5">
            <h2 id={titleId} className="font-semibold">
              {title}
            </h2>
            <IconButton icon="cross" label="Close" onClick={onClose} />
          </header>
          <div className="min-h-0 flex-1 overflow-auto p-5">{children}</div>
          {foot && <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{foot}</footer>}
        </div>
      )}
    </dialog>
  );
}

interface ConfirmProps {
  /** The button that asks: its words, and how it looks. */
  children: ReactNode;
  variant?: 'danger' | 'plain' | 'primary' | 'quiet';
  icon?: Parameters<typeof Button>[0]['icon'];
  disabled?: boolean;
  title: string;
  /** What will happen, and that it cannot be undone. */
  text: ReactNode;
  /** Words of the button that does it. */
  confirmLabel: string;
  /** The dialog stays until it has settled. */
  onConfirm(): unknown;
}

/** A button whose deed cannot be undone: it asks first. */
export function ConfirmButton({
  children,
  variant: look = 'danger',
  icon,
  disabled = false,
  title,
  text,
  confirmLabel: action,
  onConfirm,
}: ConfirmProps) {
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    try {
      await onConfirm();
    } finally {
      setBusy(false);
      setOpen(false);
    }
  };
  return (
    <>
      <Button variant={look} icon={icon} disabled={disabled} onClick={() => setOpen(true)}>
        {children}
      </Button>
      <Dialog
        open={open}
        title={title}
        onClose={() => setOpen(false)}
        footer={
          <>
            <Button onClick={() => setOpen(false)}>Keep it as it is</Button>
            <Button variant="danger" busy={busy} onClick={() => void act()}>
              {action}
            </Button>
          </>
        }
      >
        {text}
      </Dialog>
    </>
  );
}
