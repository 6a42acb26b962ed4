import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { ProgressBar } from '../progress-bar.tsx';
import { isOpen, type OperationStatus, type OperationVerb } from './operation.ts';

interface OperationProgressProps {
  label: string;
  /** How much of it is done, from 0 to 1. */
  share: number;
  /** Why the operation currently waits. */
  waits?: ReactNode;
}

/** Progress of an operation, and the reason why it waits. */
export function OperationProgress({ label, share, waits }: OperationProgressProps) {
  return (
    <>
      <ProgressBar label={label} share={share} />
      {waits && <p className="mt-2 text-sm text-warn">Waits: {waits}</p>}
    </>
  );
}

interface PauseButtonProps {
  status: OperationStatus;
  busy: boolean;
  /** Noun for the labels: "replay". */
  noun?: string;
  onChange(verb: OperationVerb): void;
}

/** Pauses a running operation, and resumes a paused one. */
export function PauseButton({ status, busy, noun, onChange }: PauseButtonProps) {
  if (!isOpen(status)) return null;
  const isPaused = status === 'paused';
  return (
    <Button icon={isPaused ? 'play' : 'pause'} busy={busy} onClick={() => onChange(isPaused ? 'resume' : 'pause')}>
      {[isPaused ? 'Resume' : 'Pause', noun].filter(Boolean).join(' ')}
    </Button>
  );
}
