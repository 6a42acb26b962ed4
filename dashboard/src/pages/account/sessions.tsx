import { callApi } from '../../api/client.ts';
import type { AccountView } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import { browserName } from './browser-name.ts';

type Session = AccountView['sessions'][number];

/** Where the user is signed in. */
export function Sessions({ sessions }: { sessions: Session[] }) {
  const end = useAction({
    run: (session: string | undefined) =>
      callApi('/auth/account/sessions/end', { method: 'POST', body: session === undefined ? {} : { session } }),
    successMessage: (session) => (session === undefined ? 'All other sessions have ended' : 'The session has ended'),
    invalidates: 'account',
  });
  return (
    <Card
      title="Sessions"
      actions={
        sessions.length > 1 && (
          <Button busy={end.isPending} onClick={() => end.mutate(undefined)}>
            End all others
          </Button>
        )
      }
    >
      <ul aria-label="Sessions" className="divide-y divide-line">
        {sessions.map(({ id, current, started_at, address, user_agent, provider }) => (
          <li key={id} className="flex flex-wrap items-center justify-between gap-2 px-4 py-3">
            <div className="min-w-0">
              <p className="flex flex-wrap items-center gap-2 font-medium">
                <span title={user_agent}>{browserName(user_agent)}</span>
                {current && <Badge tone="good">this browser</Badge>}
              </p>
              <p className="text-sm text-muted">
                signed in <Time at={started_at} /> from <span className="font-mono">{address}</span>
                {provider && ` with ${provider}`}
              </p>
            </div>
            {!current && (
              <Button variant="danger" busy={end.isPending} onClick={() => end.mutate(id)}>
                End
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
