import { useId, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { type PausedFunction, type QueuedRuns, usePausing } from './use-pausing.ts';

const CHOICES: readonly { value: QueuedRuns; label: string; hint: string }[] = [
  { value: 'run', label: 'Let them run', hint: 'They start as usual.' },
  { value: 'hold', label: 'Hold them', hint: 'They start when the function is resumed, in their order.' },
  { value: 'cancel', label: 'Cancel them', hint: 'This cannot be undone.' },
];

/** Asks before pausing, because events that arrive meanwhile are skipped, and what queued runs do. */
export default function PauseDialog({ fn, open, onClose }: { fn: PausedFunction; open: boolean; onClose(): void }) {
  const [queuedRuns, setQueuedRuns] = useState<QueuedRuns>('run');
  const { busy, pause } = usePausing(fn);
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="danger" busy={busy} onClick={() => void pause(queuedRuns).then(onClose)}>
        Pause
      </Button>
    </>
  );
  return (
    <Dialog open={open} title={`Pause ${fn.name}?`} onClose={onClose} footer={footer}>
      <div className="space-y-4">
        <p>Events that arrive while it is paused do not trigger it, not even later. Runs in progress continue.</p>
        <QueuedRunsChoice value={queuedRuns} onChange={setQueuedRuns} />
      </div>
    </Dialog>
  );
}

function QueuedRunsChoice({ value, onChange }: { value: QueuedRuns; onChange(value: QueuedRuns): void }) {
  const name = useId();
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-sm font-medium">Runs that have not started yet</legend>
      {CHOICES.map((choice) => (
        <div key={choice.value} className="flex items-baseline gap-2">
          <input
            type="radio"
            id={`${name}-${choice.value}`}
            name={name}
            checked={value === choice.value}
            aria-describedby={`${name}-${choice.value}-hint`}
            onChange={() => onChange(choice.value)}
          />
          <div>
            <label htmlFor={`${name}-${choice.value}`}>{choice.label}</label>
            <p id={`${name}-${choice.value}-hint`} className="text-sm text-muted">
              {choice.hint}
            </p>
          </div>
        </div>
      ))}
    </fieldset>
  );
}
