/** Whether what the page shows is live: a badge in the top bar, and a line below it while something is wrong. */
import { type ServiceState, useServiceState } from '../features/status/use-status.ts';
import { Icon, type IconName } from '../ui/icon.tsx';

const LABELS: Record<ServiceState, string> = {
  unknown: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  store_unreachable: 'Store unreachable',
  no_worker: 'No worker',
  rejecting: 'Rejecting events',
};

const EXPLANATIONS: Partial<Record<ServiceState, string>> = {
  reconnecting: 'No connection to the service. This page shows what it knew last, and goes on by itself.',
  store_unreachable:
    'Tidegate cannot reach Redis. Senders get 503 and have to try again; nothing that was accepted is lost. This page goes on by itself.',
  no_worker: 'Events are accepted and stored, but functions do not run. Start a worker: npm run start:worker',
  rejecting:
    'New events are rejected with 429 or 503 until the backlog is shorter. The overview says which limit is exceeded.',
};

const LOOKS: Record<ServiceState, [style: string, icon: IconName]> = {
  unknown: ['text-muted', 'dot'],
  live: ['text-good', 'dot'],
  reconnecting: ['bg-warn-soft text-warn', 'retry'],
  store_unreachable: ['bg-bad-soft text-bad', 'warning'],
  no_worker: ['bg-bad-soft text-bad', 'warning'],
  rejecting: ['bg-bad-soft text-bad', 'warning'],
};

export function StatusBadge() {
  const state = useServiceState();
  const [look, icon] = LOOKS[state];
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap ${look}`}
    >
      <Icon name={icon} className="size-3!" />
      <span className="max-sm:sr-only">{LABELS[state]}</span>
    </span>
  );
}

export function StatusStrip() {
  const state = useServiceState();
  const text = EXPLANATIONS[state];
  const [look, icon] = LOOKS[state];
  return (
    <div role="status" aria-label="Service">
      {text && (
        <p className={`flex items-start gap-2 border-b border-line px-4 py-2 text-sm sm:px-8 ${look}`}>
          <Icon name={icon} className="mt-0.5" />
          <span className="min-w-0 text-text">
            <strong className="font-semibold">{LABELS[state]}.</strong> {text}
          </span>
        </p>
      )}
    </div>
  );
}
