import type { LoggedRequest } from '../../api/types.ts';
import { Badge } from '../../ui/status-badge.tsx';
import { failureLabel } from './failure-reasons.ts';

/** Whether a request was verified as the provider's; nothing for a webhook without a provider. */
export function VerificationBadge({ verification }: { verification: LoggedRequest['verification'] }) {
  switch (verification?.result) {
    case 'verified':
      return (
        <Badge tone="good" icon="shield" title="The provider’s signature was right">
          verified
        </Badge>
      );
    case 'failed':
      return (
        <Badge tone="bad" icon="warning" title={failureLabel(verification) ?? ''}>
          not verified
        </Badge>
      );
    case 'skipped':
      return (
        <Badge tone="warn" icon="warning" title="Verification was turned off">
          skipped
        </Badge>
      );
    default:
      return null;
  }
}
