import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { callApi } from '../../api/client.ts';
import type { SearchHits } from '../../api/types.ts';
import { stopOf } from '../../lib/stop.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { RunStatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { StoppedEarlyNotice } from './stopped-early.tsx';

const TITLES: Record<string, string> = {
  event: 'Event with this ID',
  run: 'Run with this ID',
  events_by_prefix: 'Events whose ID begins so',
  runs_by_prefix: 'Runs whose ID begins so',
  deduplication_id: 'Events with this deduplication ID',
  event_name: 'Event names',
  function: 'Functions',
  error: 'Failed runs with this error',
  payload: 'Events with this value',
};
const LINK = 'text-accent hover:underline';

/** Possible meanings of a text: an ID, a name, a function, an error. */
export default function FoundTexts({ env, text }: { env: string; text: string }) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['search', env, text],
    queryFn: ({ signal }) => callApi<SearchHits[]>('/v1/search', { env, signal, query: { text } }),
    retry: false,
  });
  if (error) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <Card>
        <Loading rows={8} />
      </Card>
    );
  }
  const stop = stopOf(data.metadata);
  return (
    <>
      {data.data.length === 0 && (
        <Card>
          <EmptyState title="Nothing found">
            <p>
              No ID, name, function, error or usual value of a payload in {env} matches. An expression searches all of
              them, such as <code className="font-mono text-sm">data.customer.id == {JSON.stringify(text)}</code> for
              events, and with <code className="font-mono text-sm">event.data</code> for runs.
            </p>
          </EmptyState>
        </Card>
      )}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        {data.data.map((group) => (
          <Group key={group.kind} group={group} text={text} />
        ))}
      </div>
      {stop && (
        <StoppedEarlyNotice
          stop={stop}
          what="events and runs"
          busy={isFetching}
          onGoOn={() => void refetch()}
          isWhole
        />
      )}
    </>
  );
}

function Group({ group: { kind, list, hits }, text }: { group: SearchHits; text: string }) {
  const all = kind === 'payload' ? { to: '/events' as const, search: { q: conditionOf(list) } } : listOf(kind, text);
  return (
    <Card
      title={TITLES[kind] ?? kind}
      actions={
        all && (
          <Link {...all} className={`text-sm ${LINK}`}>
            Show all
          </Link>
        )
      }
    >
      <ul aria-label={TITLES[kind] ?? kind} className="divide-y divide-line">
        {hits.map(({ id, name, status, at }) => (
          <li key={id ?? name} className="flex items-center gap-3 px-4 py-2">
            <span className="min-w-0 flex-1">
              <Link {...targetOf(kind, id, name)} className="block truncate font-medium hover:underline">
                {name}
              </Link>
              {id && <span className="block truncate font-mono text-xs text-muted">{id}</span>}
            </span>
            {status && <RunStatusBadge status={status} />}
            {at && (
              <span className="text-sm text-muted">
                <Time at={at} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

type Target = Pick<LinkProps, 'to' | 'params' | 'search'>;

function targetOf(kind: string, id: string | undefined, name: string): Target {
  if (id !== undefined) {
    const isRun = kind === 'run' || kind === 'runs_by_prefix' || kind === 'error';
    return { to: isRun ? '/runs/$id' : '/events/$id', params: { id } };
  }
  if (kind === 'function') return { to: '/functions/$id', params: { id: name } };
  return { to: '/events', search: { name } };
}

/** The condition of the list in the API. */
function conditionOf(list: string): string {
  return new URLSearchParams(list.split('?')[1]).get('search') ?? '';
}

/** The list with all hits; undefined: there is only one. */
function listOf(kind: string, text: string): Target | undefined {
  const isWildcard = text.endsWith('*');
  const quoted = JSON.stringify(isWildcard ? text.slice(0, -1) : text);
  switch (kind) {
    case 'events_by_prefix':
      return { to: '/events', search: { q: `internal_id.startsWith(${quoted.toUpperCase()})` } };
    case 'runs_by_prefix':
      return { to: '/runs', search: { q: `run_id.startsWith(${quoted.toUpperCase()})` } };
    case 'deduplication_id':
      return { to: '/events', search: { id: text } };
    case 'event_name':
      return { to: '/events', search: isWildcard ? { name: text } : { q: `name.contains(${quoted})` } };
    case 'function':
      return {
        to: '/runs',
        search: { q: isWildcard ? `function_id.startsWith(${quoted})` : `function_id.contains(${quoted})` },
      };
    case 'error':
      return { to: '/runs', search: { status: 'Failed', error: text } };
    default:
      return undefined;
  }
}
