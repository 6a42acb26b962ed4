import type { WebhookReplayDryRun } from '../../../api/types.ts';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { CustomResponse } from '../custom-response.tsx';
import { OutcomeBadge, reasonLabel } from '../outcome.tsx';
import { changedFields } from './changed-fields.ts';

type Made = WebhookReplayDryRun['sample'][number]['after'];
type Shown = Omit<Made, 'event'>;

/** The webhook's or a draft's result for a request. */
export function Side({ title, made, note }: { title: string; made: Shown; note?: string }) {
  const { outcome, events, event_count, event_name, response, reason, message } = made;
  return (
    <div className="min-w-0 space-y-2">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <span className="font-medium">{title}</span>
        <OutcomeBadge outcome={outcome} />
        {reason && <span className="text-muted">{reasonLabel(reason)}</span>}
      </p>
      {message && <p className="text-sm break-words text-bad">{message}</p>}
      {events.map((event, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their position
        <div key={at} className="rounded-md border border-line">
          <JsonTree value={event} label={at === 0 ? title : `${title}, event ${at + 1}`} />
        </div>
      ))}
      {events.length === 0 && <p className="text-sm text-muted">{event_name ?? 'No event'}</p>}
      {events.length > 0 && event_count > events.length && (
        <p className="text-xs text-muted">
          {events.length} of {event_count} events are shown.
        </p>
      )}
      {response && <CustomResponse response={response} />}
      {note && event_name && <p className="text-xs text-muted">{note}</p>}
    </div>
  );
}

/** Names the differences, so that users need not search for them. */
export function ChangedFields({ before, after }: { before: Made; after: Made }) {
  const fields = [
    ...(before.event_count === after.event_count ? [] : ['number of events']),
    ...changedEvents(before.events, after.events),
    ...changedFields(before.response, after.response).map((path) => (path === '' ? 'response' : `response.${path}`)),
  ];
  if (fields.length === 0) return null;
  return (
    <p className="text-sm">
      <span className="text-muted">Changed: </span>
      {fields.map((field, at) => (
        <span key={field}>
          {at > 0 && ', '}
          <code className="font-mono text-xs break-all">{field}</code>
        </span>
      ))}
    </p>
  );
}

/** A single event needs no position. */
function changedEvents(before: Made['events'], after: Made['events']): string[] {
  const isSingle = before.length === 1 && after.length === 1;
  return isSingle ? changedFields(before[0], after[0]) : changedFields(before, after);
}
