import type { HeldEvent } from '../../api/types.ts';
import { Badge } from '../../ui/status-badge.tsx';

export const REASONS: [HeldEvent['reason'], label: string][] = [
  ['selection_missing', 'No environment given'],
  ['environment_unknown', 'Unknown environment'],
  ['environment_mismatch', 'Environment mismatch'],
];

export function reasonLabel({ reason }: Pick<HeldEvent, 'reason'>): string {
  return REASONS.find(([id]) => id === reason)?.[1] ?? reason;
}

/** Why the event has no environment. */
export function Reason({ held: { reason, selection } }: { held: Pick<HeldEvent, 'reason' | 'selection'> }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Badge tone="warn" icon={reason === 'selection_missing' ? 'branch' : 'warning'}>
        {reasonLabel({ reason })}
      </Badge>
      {selection !== null && <code className="truncate font-mono text-xs">{selection}</code>}
    </span>
  );
}
