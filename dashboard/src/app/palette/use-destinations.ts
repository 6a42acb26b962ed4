/** Pages, and everything that has a name or an ID. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { App, SearchHits, Webhook } from '../../api/types.ts';
import { useSettled } from '../../lib/use-settled.ts';
import { usePages } from '../navigation.ts';
import type { Entry } from './entry.ts';
import { useFunctions } from './use-actions.ts';

/** Shorter texts are in too many names. */
const SEARCHED_MIN = 2;

export function useDestinations(query: string): Entry[] {
  const env = useEnv();
  const navigate = useNavigate();
  const functions = useFunctions(env).data?.data ?? [];
  const webhooks = useNamed<Webhook>('/v1/webhooks', env);
  const apps = useNamed<App>('/v1/apps', env);
  const found = useFound(query, env);
  return [
    ...found,
    ...usePages().map(
      ({ to, label, icon }): Entry => ({
        key: `page ${label}`,
        icon,
        label,
        kind: 'page',
        choose: () => navigate({ to }),
      }),
    ),
    ...functions.map(
      ({ id, name }): Entry => ({
        key: `function ${id}`,
        icon: 'code',
        label: name === id ? id : `${name} (${id})`,
        kind: 'function',
        choose: () => navigate({ to: '/functions/$id', params: { id } }),
      }),
    ),
    ...webhooks.map(
      ({ id, name }): Entry => ({
        key: `webhook ${id}`,
        icon: 'webhook',
        label: name,
        keywords: [id],
        kind: 'webhook',
        choose: () => navigate({ to: '/webhooks/$id', params: { id } }),
      }),
    ),
    ...apps.map(
      ({ name }): Entry => ({
        key: `app ${name}`,
        icon: 'box',
        label: name,
        kind: 'app',
        choose: () => navigate({ to: '/apps/$name', params: { name } }),
      }),
    ),
  ];
}

function useNamed<T>(path: string, env: string): T[] {
  const { data } = useQuery({
    queryKey: [path, env, 'palette'],
    queryFn: ({ signal }) => callApi<T[]>(path, { env, signal, query: { limit: 100 } }),
  });
  return data?.data ?? [];
}

/** Events, runs and event names that the service finds by the text. */
function useFound(query: string, env: string): Entry[] {
  const navigate = useNavigate();
  const text = useSettled(query.trim());
  const { data } = useQuery({
    queryKey: ['search', env, text],
    queryFn: ({ signal }) => callApi<SearchHits[]>('/v1/search', { env, signal, query: { text } }),
    enabled: text.length >= SEARCHED_MIN,
    retry: false,
  });
  if (text.length < SEARCHED_MIN) return [];
  return (data?.data ?? []).flatMap(({ kind, hits }) => {
    return hits.flatMap((hit): Entry[] => {
      const common = { keywords: [text] };
      const { id } = hit;
      if (kind === 'event_name') {
        const choose = () => navigate({ to: '/events', search: { name: hit.name } as never });
        return [{ ...common, key: `events ${hit.name}`, icon: 'zap', label: hit.name, kind: 'event name', choose }];
      }
      if (id === undefined) return [];
      if (hit.status !== undefined) {
        const choose = () => navigate({ to: '/runs/$id', params: { id } });
        const label = `${hit.name} · ${id}`;
        return [{ ...common, key: `run ${id}`, icon: 'play', label, kind: `run, ${hit.status}`, choose }];
      }
      const choose = () => navigate({ to: '/events/$id', params: { id } });
      return [{ ...common, key: `event ${id}`, icon: 'zap', label: `${hit.name} · ${id}`, kind: 'event', choose }];
    });
  });
}
