import type { LoggedRequest } from '../../api/types.ts';
import type { IconName } from '../../ui/icon.tsx';
import { Badge, type Tone } from '../../ui/status-badge.tsx';

export const OUTCOMES = ['accepted', 'ignored', 'filtered', 'held', 'handshake', 'rejected'] as const;

const STYLES: Record<LoggedRequest['outcome'], [Tone, IconName, meaning: string]> = {
  accepted: ['good', 'check', 'Created an event'],
  ignored: ['neutral', 'dot', 'The transform returned no event'],
  filtered: ['neutral', 'filter', 'The webhook’s filter or event name list excludes it'],
  held: ['warn', 'inbox', 'The event is on the holding page'],
  handshake: ['good', 'check', 'The provider proved the URL: no event'],
  rejected: ['bad', 'close', 'The provider received an error response'],
};

/** Outcome of a webhook request. */
export function OutcomeBadge({ outcome }: { outcome: LoggedRequest['outcome'] }) {
  const [tone, icon, meaning] = STYLES[outcome];
  return (
    <Badge tone={tone} icon={icon} title={meaning}>
      {outcome}
    </Badge>
  );
}

const REASONS: Record<string, string> = {
  event_refused: 'event name not allowed',
  filter_not_met: 'filter not met',
  filter_failed: 'filter failed',
  verification_failed: 'not verified',
  verification_unavailable: 'verification unavailable',
  method_not_allowed: 'method not allowed',
  selection_missing: 'no environment given',
  environment_unknown: 'unknown environment',
  environment_mismatch: 'not an environment of this webhook',
  environment_archived: 'environment archived',
  transform_failed: 'transform failed',
  transform_quarantined: 'transform quarantined',
  ip_refused: 'IP address not allowed',
  webhook_paused: 'webhook paused',
  body_too_large: 'body too large',
  body_invalid: 'invalid body',
  overloaded: 'service overloaded',
  unavailable: 'storage unavailable',
};

export function reasonLabel(reason: string): string {
  return REASONS[reason] ?? reason;
}
