import type { LoggedRequest } from '../../api/types.ts';
import type { IconName } from '../../ui/icon.tsx';
import { Badge, type Tone } from '../../ui/status-badge.tsx';

export const OUTCOMES = ['accepted', 'ignored', 'filtered', 'held', 'rejected'] as const;

const STYLES: Record<LoggedRequest['outcome'], [Tone, IconName, meaning: string]> = {
  accepted: ['good', 'check', 'It made an event'],
  ignored: ['neutral', 'dot', 'The transform answered null: no event'],
  filtered: ['neutral', 'filter', 'The list of event names does not take it'],
  held: ['warn', 'inbox', 'The event waits on the holding page'],
  rejected: ['bad', 'cross', 'The provider was answered an error'],
};

/** What became of a webhook's request. */
export function OutcomeBadge({ outcome }: { outcome: LoggedRequest['outcome'] }) {
  const [tone, icon, meaning] = STYLES[outcome];
  return (
    <Badge tone={tone} icon={icon} title={meaning}>
      {outcome}
    </Badge>
  );
}

const REASONS: Record<string, string> = {
  event_refused: 'its name is not taken',
  selection_missing: 'it names no environment',
  environment_unknown: 'it names an environment that there is not',
  environment_mismatch: 'it names an environment that is not the webhook’s',
  environment_archived: 'its environment is archived',
  transform_failed: 'the transform failed',
  transform_quarantined: 'the transform rests',
  ip_refused: 'its address is not let in',
  webhook_paused: 'the webhook was paused',
  body_too_large: 'its body is too large',
  body_invalid: 'its body could not be read',
  overloaded: 'the service was busy',
  unavailable: 'the store was away',
};

/** Why a request made no event that runs, in a few words. */
export function reasonLabel(reason: string): string {
  return REASONS[reason] ?? reason;
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}
