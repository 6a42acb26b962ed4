import type { ReactNode } from 'react';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { useTell } from '../../ui/toast.tsx';
import { type Selection, useDiscard } from './queries.ts';

interface DiscardButtonProps {
  which: Selection;
  /** What is discarded, in words. */
  what: string;
  disabled: boolean;
  onDone?(): void;
  children: ReactNode;
}

export function DiscardButton({ which, what, disabled, onDone, children }: DiscardButtonProps) {
  const discard = useDiscard();
  const tell = useTell();
  const act = async () => {
    try {
      const count = await discard.mutateAsync(which);
      tell.done(count === 1 ? 'One event is discarded.' : `${count} events are discarded.`);
      onDone?.();
    } catch (error) {
      tell.failed(error as Error);
    }
  };
  return (
    <ConfirmButton
      icon="trash"
      disabled={disabled}
      title={`Discard ${what}?`}
      text="What is discarded is gone for good: no function will ever see it. The webhook’s log still has the request for a while."
      confirmLabel="Discard for good"
      onConfirm={act}
    >
      {children}
    </ConfirmButton>
  );
}
