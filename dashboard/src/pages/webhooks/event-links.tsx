import { Link } from '@tanstack/react-router';
import type { LoggedRequest } from '../../api/types.ts';

/** Links to all events that a request made, or to its events on the holding page. */
export function EventLinks({ ids, event_name, outcome }: Pick<LoggedRequest, 'ids' | 'event_name' | 'outcome'>) {
  if (ids.length === 0) return event_name ? event_name : <span className="text-muted">none</span>;
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-1">
      {ids.map((id, at) => {
        const text = at === 0 && event_name ? event_name : `Event …${id.slice(-6)}`;
        return outcome === 'held' ? (
          <Link
            key={id}
            to="/held-events"
            search={(before: object) => ({ ...before, id }) as never}
            className="text-accent underline"
          >
            {text}
          </Link>
        ) : (
          <Link key={id} to="/events/$id" params={{ id }} className="text-accent underline">
            {text}
          </Link>
        );
      })}
    </span>
  );
}
