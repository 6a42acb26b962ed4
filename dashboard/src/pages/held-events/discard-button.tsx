import type { ReactNode } from 'react';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { type Selection, useDiscard } from './queries.ts';

interface DiscardButtonProps {
  selection: Selection;
  /** Names label is discarded: "all held events". */
  label: string;
  disabled: boolean;
  onDone?(): void;
  children: ReactNode;
}

export function DiscardButton({ selection, label, disabled, onDone, children }: DiscardButtonProps) {
  const discard = useDiscard();
  const act = async () => {
    try {
      const count = await discard.mutateAsync(selection);
      toast.success(count === 1 ? '1 event discarded' : `${count} events discarded`);
      onDone?.();
    } catch (error) {
      toast.error(error as Error);
    }
  };
  return (
    <ConfirmButton
      icon="trash"
      disabled={disabled}
      title={`Discard ${label}?`}
      text="Discarded events are deleted permanently and trigger no function. The webhook’s request log keeps the request for a while."
      confirmLabel="Discard"
      onConfirm={act}
    >
      {children}
    </ConfirmButton>
  );
}
