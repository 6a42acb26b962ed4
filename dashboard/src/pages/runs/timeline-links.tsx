import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Id } from '../../ui/code-block.tsx';
import type { TimelineRowData } from './timeline-row-data.ts';
import { hostOf } from './timeline-words.ts';

/** Maximum number of events shown in a row; its details show all. */
const SHOWN_EVENTS = 2;
const LINK = 'text-accent hover:underline';
const ID_CHARS = 13;

export function hasLinks({ runId, eventId, eventIds }: TimelineRowData): boolean {
  return runId !== null || eventId !== null || eventIds.length > 0;
}

/** Links of a row: the run that it started, the events that it sent, the event that ended it. */
export function TimelineRowLinks({ row, all = false }: { row: TimelineRowData; all?: boolean }) {
  const { kind, runId, functionId, eventId, eventIds, eventsSent, request } = row;
  const shown = all ? eventIds : eventIds.slice(0, SHOWN_EVENTS);
  const hidden = (eventsSent ?? 0) - shown.length;
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-0.5 text-xs">
      {request !== null && !all && (
        <span className="break-all text-muted">
          {request.method} {hostOf(request.origin)}
        </span>
      )}
      {runId !== null && (
        <span>
          <span className="text-muted">{kind === 'invoked' ? 'invoked ' : 'continued '}</span>
          <RunLink id={runId}>
            run {functionId === null ? <Id id={runId} maxChars={ID_CHARS} /> : `of ${functionId}`}
          </RunLink>
        </span>
      )}
      {eventId !== null && (
        <span>
          <span className="text-muted">ended by event </span>
          <EventLink id={eventId} />
        </span>
      )}
      {shown.length > 0 && (
        <span className="flex flex-wrap gap-x-2">
          <span className="text-muted">{eventsSent === 1 ? 'sent event' : 'sent events'}</span>
          {shown.map((id) => (
            <EventLink key={id} id={id} />
          ))}
          {hidden > 0 && <span className="text-muted">and {hidden} more</span>}
        </span>
      )}
    </span>
  );
}

function RunLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <Link to="/runs/$id" params={{ id }} search={{}} className={LINK}>
      {children}
    </Link>
  );
}

function EventLink({ id }: { id: string }) {
  return (
    <Link to="/events/$id" params={{ id }} search={{}} className={LINK}>
      <Id id={id} maxChars={ID_CHARS} />
    </Link>
  );
}
