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
export function Source(props: SourceProps) {
  const [kind, id] = partsOf(props.source);
  const label = sourceLabel(props);
  if (kind === 'webhook') {
    return (
      <Link to="/webhooks/$id" params={{ id }} className="text-accent hover:underline">
        {label}
      </Link>
    );
  }
  if (kind === 'event') {
    return (
      <>
        {RESENT}
        <Link to="/events/$id" params={{ id }} className="text-accent hover:underline" title={id}>
          {label.slice(RESENT.length)}
        </Link>
      </>
    );
  }
  return <>{label}</>;
}

const RESENT = 'Resent from ';

/** The source in words. */
export function sourceLabel({ source, webhooks, keys }: SourceProps): string {
  const [kind, id] = partsOf(source);
  if (kind === 'webhook') return webhooks.find((webhook) => webhook.id === id)?.name ?? 'Webhook';
  if (kind === 'event') return `${RESENT}…${id.slice(-6)}`;
  return (kind === 'event-key' ? keys?.get(id) : undefined) ?? LABELS[kind] ?? source;
}

function partsOf(source: string): [kind: string, id: string] {
  const [kind = '', ...rest] = source.split(':');
  return [kind, rest.join(':')];
}
