import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { callApi, PRODUCTION } from '../../api/client.ts';
import { useCurrentUser } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { ListedFunction } from '../../api/types.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { curlSnippet } from './snippets/curl.ts';
import { sendTarget } from './snippets/target.ts';

const UNKNOWN = 'hello/world';

/** A command that sends the first event, which runs a function if there is one. */
export function FirstEvent({ title }: { title: string }) {
  const env = useEnv();
  const dev = useCurrentUser()?.kind === 'dev';
  const triggered = useTriggered(env);
  const event = { name: triggered?.event ?? UNKNOWN, data: { from: 'curl' } };
  return (
    <EmptyState title={title} command={curlSnippet(event, sendTarget(env, dev))}>
      {triggered ? (
        <p>
          It runs <strong className="font-medium text-text">{triggered.fn}</strong>.
        </p>
      ) : (
        <p>
          No function runs on this event yet.{' '}
          <Link to="/apps" className="text-accent underline">
            Register an app
          </Link>{' '}
          to run functions.
        </p>
      )}
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

/** A function, and an event that starts it whatever its data. */
function useTriggered(env: string): { fn: string; event: string } | undefined {
  const { data } = useQuery({
    queryKey: ['functions', env, 'first'],
    queryFn: ({ signal }) => callApi<ListedFunction[]>('/v1/functions', { env, signal, query: { limit: 20 } }),
  });
  for (const { name, triggers, paused_at } of data?.data ?? []) {
    if (paused_at !== null) continue;
    for (const { event, expression } of triggers ?? []) {
      if (event && !event.includes('*') && !isOwn(event) && !expression) return { fn: name, event };
    }
  }
}

/** Only the service sends these. */
function isOwn(name: string): boolean {
  return name.startsWith('inngest/');
}
