import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import type { Environment, Storage } from '../../api/types.ts';
import { formatCount } from '../../lib/format.ts';

/** As often as the service measures. */
const STALE_MS = 15_000;

function useStorage({ name, deleting_at }: Environment) {
  return useQuery({
    queryKey: ['storage', name],
    queryFn: ({ signal }) => callApi<Storage>('/v1/storage', { env: name, signal }),
    enabled: deleting_at === null,
    staleTime: STALE_MS,
    refetchInterval: STALE_MS,
    retry: false,
  });
}

/** Events and runs of the environment in Redis. */
export function Use({ of: environment }: { of: Environment }) {
  const storage = useStorage(environment).data?.data;
  if (!storage) return <span className="text-muted">–</span>;
  const { events, runs } = storage.hot;
  return (
    <span className="text-sm">
      <span className="block">
        {formatCount(events)} {events === 1 ? 'event' : 'events'}
      </span>
      <span className="block text-muted">
        {formatCount(runs)} {runs === 1 ? 'run' : 'runs'}
      </span>
    </span>
  );
}

/** For how long events and ended runs are kept. */
export function Retention({ of: environment }: { of: Environment }) {
  const days = useStorage(environment).data?.data.retention_days ?? environment.retention_days;
  if (days === null) return <span className="text-muted">–</span>;
  return `${days} ${days === 1 ? 'day' : 'days'}`;
}
