import { Link } from '@tanstack/react-router';
import { PRODUCTION } from '../../api/client.ts';
import { useMe } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import { Empty } from '../../ui/empty-state.tsx';
import { curlOf } from './snippets/curl.ts';
import { placeOf } from './snippets/target.ts';

const FIRST = { name: 'hello/world', data: { from: 'curl' } };

/** The line to paste that makes the service's first event. */
export function FirstEvent({ title }: { title: string }) {
  const env = useEnv();
  const dev = useMe()?.kind === 'dev';
  return (
    <Empty title={title} paste={curlOf(FIRST, placeOf(env, dev))}>
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
    </Empty>
  );
}
