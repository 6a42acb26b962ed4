import type { WebhookReplayDryRun } from '../../../api/types.ts';
import { EmptyState } from '../../../ui/empty-state.tsx';
import type { IconName } from '../../../ui/icon.tsx';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { Badge, type Tone } from '../../../ui/status-badge.tsx';
import { Time } from '../../../ui/time.tsx';
import { OutcomeBadge, reasonLabel } from '../outcome.tsx';

type Compared = WebhookReplayDryRun['sample'][number];
type Made = Compared['after'];

const CHANGES: Record<Compared['change'], [Tone, IconName | undefined, string]> = {
  same: ['neutral', undefined, 'Same'],
  changed: ['busy', 'edit', 'Changed'],
  new_event: ['good', 'plus', 'New event'],
  no_event: ['warn', 'warning', 'No event'],
  error: ['bad', 'warning', 'Error'],
};

/** What a replay makes of the newest requests, beside what they made before. */
export function ReplayDryRun({ result: { total, total_is_exact, sample } }: { result: WebhookReplayDryRun }) {
  const differing = sample.filter(({ change }) => change !== 'same').length;
  return (
    <section aria-label="Dry run" className="space-y-3">
      <p role="status">
        <strong className="font-semibold">
          {total_is_exact ? '' : 'More than '}
          {total.toLocaleString()} {total === 1 ? 'request' : 'requests'}
        </strong>
        {sample.length > 0 &&
          `. Of the newest ${sample.length}, ${differing} ${differing === 1 ? 'differs' : 'differ'}.`}
      </p>
      {total === 0 && <EmptyState title="No logged requests match" />}
      <ul aria-label="Compared requests" className="space-y-2">
        {sample.map((compared) => (
          <li key={compared.request_id}>
            <ComparedRequest compared={compared} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ComparedRequest({ compared: { received_at, logged, before, after, change } }: { compared: Compared }) {
  const [tone, icon, text] = CHANGES[change];
  return (
    <details className="rounded-lg border border-line">
      <summary className="flex cursor-pointer flex-wrap items-center gap-3 px-3 py-2 text-sm">
        <Badge tone={tone} {...(icon && { icon })}>
          {text}
        </Badge>
        <span className="min-w-0 flex-1 truncate font-medium">
          {after.event_name ?? after.message ?? (after.reason && reasonLabel(after.reason)) ?? 'No event'}
        </span>
        <span className="text-muted">
          <Time at={received_at} />
        </span>
      </summary>
      <div className="grid gap-3 border-t border-line p-3 md:grid-cols-2">
        {before ? (
          <Side title="Before: saved transform" made={before} />
        ) : (
          <Side
            title="Before: as it was logged"
            made={{ ...logged, event: null, message: null }}
            note="The log has the name of the event only."
          />
        )}
        <Side title={before ? 'After: draft' : 'After: saved transform'} made={after} />
      </div>
    </details>
  );
}

function Side({ title, made, note }: { title: string; made: Made; note?: string }) {
  const { outcome, event, event_name, reason, message } = made;
  return (
    <div className="min-w-0 space-y-2">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <span className="font-medium">{title}</span>
        <OutcomeBadge outcome={outcome} />
        {reason && <span className="text-muted">{reasonLabel(reason)}</span>}
      </p>
      {message && <p className="text-sm break-words text-bad">{message}</p>}
      {event ? (
        <div className="rounded-md border border-line">
          <JsonTree value={event} label={title} />
        </div>
      ) : (
        <p className="text-sm text-muted">{event_name ?? 'No event'}</p>
      )}
      {note && event_name && <p className="text-xs text-muted">{note}</p>}
    </div>
  );
}
