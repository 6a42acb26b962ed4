import { Link } from '@tanstack/react-router';
import { leaveForSignIn } from '../api/client.ts';
import { useCurrentUser } from '../api/current-user.ts';

/** The signed-in user, with a link to the account, and Sign out; in dev mode there is no sign-in. */
export function AccountMenu({ onNavigate }: { onNavigate?: () => void }) {
  const me = useCurrentUser();
  if (!me) return null;
  if (me.kind === 'dev') {
    return (
      <Link
        to="/account"
        onClick={onNavigate}
        title="Theme and notifications"
        className="rounded-full bg-warn-soft px-2 py-0.5 text-xs font-medium whitespace-nowrap text-warn"
      >
        dev mode
      </Link>
    );
  }
  return (
    <form method="post" action="/auth/sign-out" onSubmit={leaveForSignIn} className="flex items-center gap-2">
      <Link
        to="/account"
        onClick={onNavigate}
        title={`${me.name}, ${me.access} access`}
        className="max-w-40 truncate rounded-md px-2 py-1 text-sm text-muted hover:bg-sunken hover:text-text sm:max-md:max-w-20"
      >
        {me.name}
      </Link>
      <button
        type="submit"
        className="rounded-md px-2 py-1 text-sm whitespace-nowrap text-muted hover:bg-sunken hover:text-text"
      >
        Sign out
      </button>
    </form>
  );
}
