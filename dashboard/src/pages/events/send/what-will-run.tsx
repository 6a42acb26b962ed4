import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { callApi, PRODUCTION } from '../../../api/client.ts';
import { useCurrentUser } from '../../../api/current-user.ts';
import type { EventMatch } from '../../../api/types.ts';
import type { EventToSend } from '../../../features/events/snippets/target.ts';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';

/** In production, functions run on real data. Dev mode has an environment named production, too. */
export function useAsksFirst(env: string): boolean {
  return useCurrentUser()?.kind !== 'dev' && env === PRODUCTION;
}

const NOTES: Record<EventMatch['functions'][number]['outcome'], string> = {
  runs: '',
  paused: 'paused: it does not run',
  not_evaluated: 'its expression fails on this event: it does not run',
};

interface WhatWillRunProps {
  env: string;
  event: EventToSend;
  /** Deduplication ID of the event that is sent again; null: it had none. */
  formerId?: string | null;
}

/** The functions that the event triggers when it is sent, and what becomes of the deduplication ID. */
export function WhatWillRun({ env, event, formerId = null }: WhatWillRunProps) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['event-match', env, event],
    queryFn: async ({ signal }) =>
      (await callApi<EventMatch>('/v1/events/match', { method: 'POST', env, body: event, signal })).data,
    gcTime: 0,
    staleTime: 0,
  });
  if (isPending) return <Loading rows={3} />;
  if (error) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  const running = data.functions.filter(({ outcome }) => outcome === 'runs').length;
  return (
    <div className="space-y-3">
      <p>
        {data.total === 0
          ? 'No function has a trigger that this event meets: nothing will run.'
          : `${running} ${running === 1 ? 'function' : 'functions'} will run:`}
      </p>
      {data.functions.length > 0 && (
        <ul aria-label="Functions" className="max-h-48 space-y-1 overflow-auto">
          {data.functions.map(({ function_id: id, outcome }) => (
            <li key={id}>
              <Link to="/functions/$id" params={{ id }} className="text-accent hover:underline">
                {id}
              </Link>
              {NOTES[outcome] && <span className="text-muted"> – {NOTES[outcome]}</span>}
            </li>
          ))}
          {data.total > data.functions.length && <li>and {data.total - data.functions.length} more</li>}
        </ul>
      )}
      <p className="text-muted">{deduplication(event.id, formerId)}</p>
    </div>
  );
}

function deduplication(id: string | undefined, formerId: string | null): string {
  if (id !== undefined) {
    return `The deduplication ID ${id} is kept: the event is ignored if an event with this ID came within 24 hours.`;
  }
  const dropped = formerId === null ? '' : `The deduplication ID ${formerId} is dropped. `;
  return `${dropped}It is a new event without a deduplication ID, so that it is not ignored as a duplicate.`;
}
