import { type ReactNode, useId } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorAlert } from './error-alert.tsx';

interface FormDialogProps {
  /** Default: true. */
  open?: boolean;
  title: string;
  /** Label of the button that submits. */
  submitLabel: string;
  busy: boolean;
  /** Nothing can be submitted yet. */
  disabled?: boolean;
  /** Why the last attempt failed. */
  error: Error | null | undefined;
  onSubmit(form: HTMLFormElement): void;
  onClose(): void;
  /** The fields. */
  children: ReactNode;
}

/** A form in a dialog, which the caller closes after success. */
export function FormDialog(props: FormDialogProps) {
  const { open = true, title, submitLabel, busy, disabled = false, error, onSubmit, onClose, children } = props;
  const form = useId();
  return (
    <Dialog
      open={open}
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={form} busy={busy} disabled={disabled}>
            {submitLabel}
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit(event.currentTarget);
        }}
        className="space-y-5"
      >
        {error && <ErrorAlert error={error} />}
        {children}
      </form>
    </Dialog>
  );
}
