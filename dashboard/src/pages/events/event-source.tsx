import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { callApi } from '../../api/client.ts';
import { fetchAllPages } from '../../api/fetch-all-pages.ts';
import type { EventKey, Webhook } from '../../api/types.ts';

export function useWebhooks(env: string): Webhook[] {
  const { data } = useQuery({
    queryKey: ['webhooks', env],
    queryFn: ({ signal }) => callApi<Webhook[]>('/v1/webhooks', { env, signal, query: { limit: 100 } }),
    staleTime: 60_000,
  });
  return data?.data ?? [];
}

const LABELS: Record<string, string> = { 'event-key': 'Event key', api: 'API', service: 'System' };

/** Names of event keys by ID. */
export type EventKeyNames = ReadonlyMap<string, string>;

export function useEventKeyNames(): EventKeyNames {
  const { data } = useQuery({
    queryKey: ['event-key-names'],
    queryFn: ({ signal }) => fetchAllPages<EventKey>('/v1/event-keys', { signal }),
    staleTime: 60_000,
    retry: false,
  });
  return useMemo(() => new Map(data?.map(({ id, name }) => [id, name])), [data]);
}

interface SourceProps {
  source: string;
  webhooks: readonly Webhook[];
  keys?: EventKeyNames;
}

/** Source of an event (src/model/events/event.ts), with a link where there is a page. */
export function Source({ source, webhooks, keys }: SourceProps) {
  const [kind = '', ...rest] = source.split(':');
  const id = rest.join(':');
  if (kind === 'webhook') {
    return (
      <Link to="/webhooks/$id" params={{ id }} className="text-accent hover:underline">
        {webhooks.find((webhook) => webhook.id === id)?.name ?? 'Webhook'}
      </Link>
    );
  }
  if (kind === 'event') {
    return (
      <>
        Resent from{' '}
        <Link to="/events/$id" params={{ id }} className="text-accent hover:underline" title={id}>
          …{id.slice(-6)}
        </Link>
      </>
    );
  }
  if (kind === 'event-key') return <>{keys?.get(id) ?? LABELS[kind]}</>;
  return <>{LABELS[kind] ?? source}</>;
}
