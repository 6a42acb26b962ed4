import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ask } from '../../api/client.ts';
import type { Webhook } from '../../api/types.ts';

export function useWebhooks(env: string): Webhook[] {
  const { data } = useQuery({
    queryKey: ['webhooks', env],
    queryFn: ({ signal }) => ask<Webhook[]>('/v1/webhooks', { env, signal, query: { limit: 100 } }),
    staleTime: 60_000,
  });
  return data?.data ?? [];
}

const WORDS: Record<string, string> = { 'event-key': 'Event key', api: 'API', service: 'The service' };

/** Where an event came from (src/model/events/event.ts), as a link where there is something to look at. */
export function Source({ source, webhooks }: { source: string; webhooks: readonly Webhook[] }) {
  const [kind = '', ...rest] = source.split(':');
  const id = rest.join(':');
  if (kind === 'webhook') {
    return (
      <Link to="/webhooks/$id" params={{ id }} className="text-accent hover:underline">
        {webhooks.find((webhook) => webhook.id === id)?.name ?? 'A webhook'}
      </Link>
    );
  }
  if (kind === 'event') {
    return (
      <>
        Sent again from{' '}
        <Link to="/events/$id" params={{ id }} className="text-accent hover:underline" title={id}>
          …{id.slice(-6)}
        </Link>
      </>
    );
  }
  return <>{WORDS[kind] ?? source}</>;
}
