import { Link } from '@tanstack/react-router';
import { Icon } from '../../../ui/icon.tsx';

/** Shown instead of the event's page until the event is stored. */
export function PendingEvent({ id }: { id: string }) {
  return (
    <p className="flex items-start gap-2 rounded-lg bg-sunken p-3">
      <Icon name="clock" className="mt-0.5 text-muted" />
      <span className="min-w-0">
        The event was accepted but is not stored yet: it waits for a worker, or it is a duplicate. It will appear at{' '}
        <Link to="/events/$id" params={{ id }} className="font-mono text-xs break-all text-accent underline">
          {id}
        </Link>
      </span>
    </p>
  );
}
