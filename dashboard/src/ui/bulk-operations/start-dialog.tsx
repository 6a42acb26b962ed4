import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { ConfirmButton, Dialog } from '../dialog.tsx';
import { ErrorAlert } from '../error-alert.tsx';
import { TextField } from '../field.tsx';
import { Loading } from '../loading.tsx';
import { isRate } from './operation.ts';

interface StartDialogProps {
  title: string;
  /** The form. */
  children: ReactNode;
  dryRun: {
    busy: boolean;
    /** Why there can be none. */
    missing?: string | undefined;
    /** Result of the dry run; undefined: it was not done, or the form has changed since. */
    result: ReactNode | undefined;
    run(): void;
  };
  start: {
    busy: boolean;
    /** Whether the result of the dry run can be started. */
    possible: boolean;
    run(): void;
    /** Says that it was done before: then the user is asked once more. */
    again?: ReactNode;
  };
  /** undefined or null: none, or one that the form shows. */
  error: Error | null | undefined;
  onClose(): void;
}

/** Starts a bulk operation. A dry run comes first; then the same operation can be started. */
export function StartDialog({ title, children, dryRun, start, error, onClose }: StartDialogProps) {
  const isShown = dryRun.result !== undefined;
  return (
    <Dialog
      open
      wide
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            icon="search"
            variant={isShown ? 'secondary' : 'primary'}
            busy={dryRun.busy}
            disabled={dryRun.missing !== undefined}
            onClick={dryRun.run}
          >
            Dry run
          </Button>
          {start.again === undefined || !isShown || !start.possible ? (
            <Button
              icon="play"
              variant={isShown ? 'primary' : 'secondary'}
              busy={start.busy}
              disabled={!isShown || !start.possible}
              title={isShown ? undefined : 'Do a dry run first'}
              onClick={start.run}
            >
              Start
            </Button>
          ) : (
            <ConfirmButton
              icon="play"
              variant="primary"
              title="Start once more?"
              text={start.again}
              confirmLabel="Start again"
              disabled={start.busy}
              onConfirm={start.run}
            >
              Start
            </ConfirmButton>
          )}
        </>
      }
    >
      <div className="space-y-4">
        {children}
        {dryRun.missing && <p className="text-sm text-muted">{dryRun.missing}</p>}
        {error && <ErrorAlert error={error} />}
        {dryRun.busy ? <Loading rows={4} /> : dryRun.result}
      </div>
    </Dialog>
  );
}

interface RateFieldProps {
  /** "Runs per second". */
  label: string;
  value: number;
  max: number;
  onChange(rate: number): void;
}

export function RateField({ label, value, max, onChange }: RateFieldProps) {
  return (
    <TextField
      label={label}
      type="number"
      min={1}
      max={max}
      value={Number.isNaN(value) ? '' : value}
      error={isRate(value, max) ? undefined : `From 1 to ${max}`}
      onChange={({ target }) => onChange(target.valueAsNumber)}
    />
  );
}
