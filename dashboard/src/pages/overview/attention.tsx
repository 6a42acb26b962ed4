import { Link, type LinkProps } from '@tanstack/react-router';
import { useStatus } from '../../features/status/use-status.ts';
import { formatCount } from '../../lib/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { useRejectedRequests } from './rejected-requests.ts';

/** Cards for what needs attention; no card for a count of zero.
 *  @param pausedRuns of the environment */
export function Attention({ pausedRuns }: { pausedRuns: number }) {
  const { data } = useStatus();
  const rejected = useRejectedRequests();
  if (!data) return null;
  const cards: [count: number, one: string, several: string, hint: string, link: LinkProps][] = [
    [
      pausedRuns,
      'paused run',
      'paused runs',
      'No attempt was left. Mend the cause, then resume them.',
      { to: '/runs', search: { status: 'paused' } as never },
    ],
    [
      data.held_events,
      'held event',
      'held events',
      'They named no valid environment. Assign or discard them.',
      { to: '/held-events' },
    ],
    [
      data.held_registrations,
      'registration to confirm',
      'registrations to confirm',
      'An app registered at an address that nobody has allowed.',
      { to: '/apps' },
    ],
    [
      rejected,
      'rejected webhook request',
      'rejected webhook requests',
      'In the request logs. Mend the cause, then replay them.',
      { to: '/webhooks' },
    ],
    [
      data.open_webhook_issues,
      'open webhook issue',
      'open webhook issues',
      'A webhook fails or is silent.',
      { to: '/webhook-issues' },
    ],
  ];
  const shown = cards.filter(([count]) => count > 0);
  if (shown.length === 0) return null;
  return (
    <ul className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3" aria-label="Needs attention">
      {shown.map(([count, one, several, hint, link]) => (
        <li key={one}>
          <Link
            {...link}
            className="flex h-full items-start gap-3 rounded-lg border border-line bg-surface p-4 hover:border-line-strong"
          >
            <Icon name="warning" className="mt-0.5 text-warn" />
            <span className="min-w-0">
              <span className="block font-medium tabular-nums">
                {formatCount(count)} {count === 1 ? one : several}
              </span>
              <span className="block text-sm text-muted">{hint}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
