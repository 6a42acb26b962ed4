import type { Replay } from '../../api/types.ts';
import type { IconName } from '../../ui/icon.tsx';
import { Badge, type Tone } from '../../ui/status-badge.tsx';
import { waitingText } from './texts.ts';

const STYLES: Record<Replay['status'], [Tone, IconName, string]> = {
  running: ['busy', 'play', 'Running'],
  paused: ['warn', 'pause', 'Paused'],
  cancelling: ['neutral', 'clock', 'Cancelling'],
  cancelled: ['neutral', 'close', 'Cancelled'],
  done: ['good', 'check', 'Done'],
};

export function ReplayStatus({ replay: { status, waiting_because } }: { replay: Replay }) {
  const [tone, icon, text] = STYLES[status];
  if (waiting_because) {
    return (
      <Badge tone="warn" icon="clock" title={waitingText(waiting_because)}>
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
