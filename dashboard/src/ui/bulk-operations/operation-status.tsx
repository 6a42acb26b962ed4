import type { IconName } from '../icon.tsx';
import { Badge, type Tone } from '../status-badge.tsx';
import type { OperationStatus as Status } from './operation.ts';

const STYLES: Record<Status, [Tone, IconName, string]> = {
  running: ['busy', 'play', 'Running'],
  paused: ['warn', 'pause', 'Paused'],
  cancelling: ['neutral', 'clock', 'Cancelling'],
  cancelled: ['neutral', 'close', 'Cancelled'],
  done: ['good', 'check', 'Done'],
};

/** @param waits why the operation currently waits */
export function OperationStatus({ status, waits }: { status: Status; waits?: string | undefined }) {
  const [tone, icon, text] = STYLES[status];
  if (waits !== undefined) {
    return (
      <Badge tone="warn" icon="clock" title={waits}>
        Waiting
      </Badge>
    );
  }
  return (
    <Badge tone={tone} icon={icon}>
      {text}
    </Badge>
  );
}
