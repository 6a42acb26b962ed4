import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useCurrentUser } from '../../api/current-user.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';

interface Task {
  title: string;
  how: string;
  link: LinkProps;
  /** An existing object shows that the step is done. */
  path: string;
}

const TASKS: Task[] = [
  {
    title: 'Create an event key',
    how: 'Senders put it into the URL to which they post events; apps have it as SERVICE_EVENT_KEY, or INNGEST_EVENT_KEY with an Inngest SDK.',
    link: { to: '/keys' },
    path: '/v1/event-keys',
  },
  {
    title: 'Give your app the signing key',
    how: 'Set SERVICE_SIGNING_KEY where the app runs, SERVICE_BASE_URL to this address, and SERVICE_SERVE_ORIGIN to its own. With an Inngest SDK the names are INNGEST_SIGNING_KEY, INNGEST_BASE_URL and INNGEST_SERVE_ORIGIN. It is done when the app registers.',
    link: { to: '/keys', search: { tab: 'signing-keys' } as never },
    path: '/v1/apps',
  },
  {
    title: 'Register the app',
    how: 'It tells Tidegate its functions and their triggers.',
    link: { to: '/apps' },
    path: '/v1/functions',
  },
  {
    title: 'Send the first event',
    how: 'With one of the clients, or curl.',
    link: { to: '/events' },
    path: '/v1/events',
  },
  {
    title: 'See the first run',
    how: 'An event whose name is a trigger starts the function.',
    link: { to: '/runs' },
    path: '/v1/runs',
  },
];
const REFETCH_MS = 3_000;

/** Steps left before the first run in an environment; nothing in dev mode, when all are done, or after the user has hidden it. */
export function Onboarding({ env }: { env: string }) {
  const me = useCurrentUser();
  const storageKey = `onboarding-hidden ${env}`;
  const [isHidden, setIsHidden] = useState(() => localStorage.getItem(storageKey) !== null);
  const isShown = me !== undefined && me.kind !== 'dev' && !isHidden;
  const { data: done } = useQuery({
    queryKey: ['onboarding', env],
    queryFn: async ({ signal }) => {
      const lists = TASKS.map(({ path }) => callApi<unknown[]>(path, { env, signal, query: { limit: 1 } }));
      return (await Promise.all(lists)).map(({ data }) => data.length > 0);
    },
    enabled: isShown,
    refetchInterval: ({ state }) => (state.data?.every(Boolean) ? false : REFETCH_MS),
  });
  if (!isShown || !done || done.every(Boolean)) return null;
  const hide = () => {
    localStorage.setItem(storageKey, '1');
    setIsHidden(true);
  };
  const next = done.indexOf(false);
  return (
    <Card
      className="mb-6"
      title={`Get started: ${done.filter(Boolean).length} of ${TASKS.length} done`}
      actions={
        <Button variant="ghost" onClick={hide}>
          Hide
        </Button>
      }
    >
      <ol className="divide-y divide-line">
        {TASKS.map(({ title, how, link }, i) => (
          <li key={title} className="flex items-start gap-3 px-4 py-3">
            <Icon name={done[i] ? 'check' : 'dot'} className={`mt-0.5 ${done[i] ? 'text-good' : 'text-muted'}`} />
            <div className="min-w-0 flex-1">
              <p className={i === next ? 'font-medium' : ''}>
                {title}
                <span className="sr-only">{done[i] ? ', done' : ', to do'}</span>
              </p>
              {!done[i] && <p className="text-sm text-muted">{how}</p>}
            </div>
            {!done[i] && (
              <Link {...link} aria-label={`Do it: ${title}`} className="text-sm text-accent underline">
                Do it
              </Link>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
