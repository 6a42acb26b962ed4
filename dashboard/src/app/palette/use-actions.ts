/** Actions of the command palette, in addition to going to pages. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { callApi, PRODUCTION } from '../../api/client.ts';
import { useCurrentUser, useHasAccess } from '../../api/current-user.ts';
import { useEnv, useEnvironments } from '../../api/environment.ts';
import type { ListedFunction } from '../../api/types.ts';
import { setTheme, THEMES } from '../../lib/theme.ts';
import type { Entry } from './entry.ts';

export interface ActionHandlers {
  onPause(fn: ListedFunction): void;
  onResume(fn: ListedFunction): void;
  onShortcuts(): void;
}

export function useFunctions(env: string) {
  return useQuery({
    queryKey: ['functions', env, 'palette'],
    queryFn: ({ signal }) => callApi<ListedFunction[]>('/v1/functions', { env, signal, query: { limit: 100 } }),
  });
}

export function useActions({ onPause, onResume, onShortcuts }: ActionHandlers): Entry[] {
  const env = useEnv();
  const navigate = useNavigate();
  const canWrite = useHasAccess('write');
  const me = useCurrentUser();
  const environments = useEnvironments();
  const functions = useFunctions(env).data?.data ?? [];
  const switches = environments
    .filter(({ archived_at, name }) => !archived_at && name !== env)
    .map(({ name }) => name)
    .map((name): Entry => {
      const search = (before: object) => ({ ...before, env: name === PRODUCTION ? undefined : name }) as never;
      return action('branch', `Switch to environment ${name}`, () => navigate({ to: '.', search }));
    });
  const writes: Entry[] = [
    action('webhook', 'Create webhook', () => navigate({ to: '/webhooks', search: { new: 'choose' } as never })),
    action('replay', 'Create replay', () => navigate({ to: '/replays', search: { new: true } as never })),
    ...functions.map((fn): Entry => {
      const name = fn.name === fn.id ? fn.id : `${fn.name} (${fn.id})`;
      return fn.paused_at === null
        ? action('pause', `Pause function ${name}`, () => onPause(fn))
        : action('play', `Resume function ${name}`, () => onResume(fn));
    }),
  ];
  return [
    ...(canWrite ? writes : []),
    ...switches,
    ...THEMES.map((theme) => action('monitor', `Theme: ${theme}`, () => setTheme(theme))),
    action('layers', 'Keyboard shortcuts', onShortcuts),
    action('users', 'Account', () => navigate({ to: '/account' })),
    ...(me && me.kind !== 'dev' ? [action('arrow-right', 'Sign out', signOut)] : []),
  ];
}

function action(icon: Entry['icon'], label: string, choose: () => unknown): Entry {
  return { key: `action ${label}`, icon, label, kind: 'action', choose };
}

/** Same as the button of the top bar. */
function signOut(): void {
  document.querySelector<HTMLFormElement>('form[action="/auth/sign-out"]')?.requestSubmit();
}
