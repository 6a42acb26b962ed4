import { Link } from '@tanstack/react-router';
import { Icon } from '../../../ui/icon.tsx';

/** In place of the event's page, while there is nothing to be seen on it. */
export function PendingEvent({ id }: { id: string }) {
  return (
    <p className="flex items-start gap-2 rounded-lg bg-sunken p-3">
      <Icon name="clock" className="mt-0.5 text-muted" />
      <span className="min-w-0">
        It was sent, and is still on its way: a worker has yet to store it, unless its id has come before. It will be
        here:{' '}
        <Link to="/events/$id" params={{ id }} className="font-mono text-xs break-all text-accent underline">
          {id}
        </Link>
      </span>
    </p>
  );
}
