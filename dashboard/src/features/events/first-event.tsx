import { Link } from '@tanstack/react-router';
import { PRODUCTION } from '../../api/client.ts';
import { useCurrentUser } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { curlSnippet } from './snippets/curl.ts';
import { sendTarget } from './snippets/target.ts';

const FIRST = { name: 'hello/world', data: { from: 'curl' } };

/** The line to paste that makes the service's first event. */
export function FirstEvent({ title }: { title: string }) {
  const env = useEnv();
  const dev = useCurrentUser()?.kind === 'dev';
  return (
    <EmptyState title={title} command={curlSnippet(FIRST, sendTarget(env, dev))}>
      {dev ? (
        <p>Paste this into a terminal. In dev mode any key will do, and the event is shown here at once.</p>
      ) : (
        <p>
          Paste this into a terminal where <code className="font-mono text-xs">SERVICE_EVENT_KEY</code> holds{' '}
          <Link to="/keys" className="text-accent underline">
            an event key
          </Link>{' '}
          {env === PRODUCTION ? 'of this environment' : 'that this environment takes'}.
        </p>
      )}
    </EmptyState>
  );
}
