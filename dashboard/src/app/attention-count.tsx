import { useStatus } from '../features/status/use-status.ts';
import { formatCount } from '../lib/format.ts';

/** Number of items on a page of the navigation that need attention. */
export function AttentionCount({ page }: { page: string }) {
  const { data } = useStatus();
  if (!data) return null;
  if (page === '/runs') return <Count count={data.runs_failed_last_hour} tone="bad" what="failed in the last hour" />;
  if (page === '/errors') return <Count count={data.open_errors} tone="bad" what="open" />;
  if (page === '/webhook-issues') return <Count count={data.open_webhook_issues} tone="bad" what="open" />;
  if (page === '/held-events') return <Count count={data.held_events} tone="warn" what="held" />;
  if (page === '/apps') return <Count count={data.held_registrations} tone="warn" what="waiting for confirmation" />;
  return null;
}

const TONES = { bad: 'bg-bad-soft text-bad', warn: 'bg-warn-soft text-warn' };

function Count({ count, tone, what }: { count: number; tone: keyof typeof TONES; what: string }) {
  if (count === 0) return null;
  return (
    <span
      title={`${formatCount(count)} ${what}`}
      className={`ml-auto rounded-full px-2 text-xs font-medium tabular-nums ${TONES[tone]}`}
    >
      {formatCount(count)}
      <span className="sr-only"> {what}</span>
    </span>
  );
}
