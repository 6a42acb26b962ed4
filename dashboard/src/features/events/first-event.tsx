import { Link } from '@tanstack/react-router';
import { PRODUCTION } from '../../api/client.ts';
import { useCurrentUser } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { curlSnippet } from './snippets/curl.ts';
import { sendTarget } from './snippets/target.ts';

const FIRST = { name: 'hello/world', data: { from: 'curl' } };

/** A command that sends the first event. */
export function FirstEvent({ title }: { title: string }) {
  const env = useEnv();
  const dev = useCurrentUser()?.kind === 'dev';
  return (
    <EmptyState title={title} command={curlSnippet(FIRST, sendTarget(env, dev))}>
      {dev ? (
        <p>Run this command. Dev mode accepts any key. The event appears here immediately.</p>
      ) : (
        <p>
          Set <code className="font-mono text-xs">SERVICE_EVENT_KEY</code> to{' '}
          <Link to="/keys" className="text-accent underline">
            an event key
          </Link>{' '}
          {env === PRODUCTION ? 'of this environment' : 'that this environment accepts'}, then run this command.
        </p>
      )}
    </EmptyState>
  );
}
