import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { Lane } from '../../api/types.ts';
import { formatCount } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';

const SHOWN = 20;
const POLL_MS = 5_000;

/** The lanes of a function with an order: first those that failed runs stop; live. */
export default function Lanes({ functionId }: { functionId: string }) {
  const env = useEnv();
  const path = `/v1/functions/${encodeURIComponent(functionId)}/lanes`;
  const { data: lanes = [] } = useQuery({
    queryKey: ['function', env, functionId, 'lanes'],
    queryFn: async ({ signal }) => {
      const read = (stopped: boolean) => callApi<Lane[]>(path, { env, signal, query: { stopped, limit: SHOWN } });
      const [first, all] = await Promise.all([read(true), read(false)]);
      const isStopped = new Set(first.data.map(({ id }) => id));
      return [...first.data, ...all.data.filter(({ id }) => !isStopped.has(id))].slice(0, SHOWN);
    },
    refetchInterval: POLL_MS,
  });
  if (lanes.length === 0) return null;
  return (
    <Card title="Lanes">
      <ul aria-label="Lanes" className="divide-y divide-line">
        {lanes.map((lane) => (
          <Row key={lane.id} lane={lane} path={path} />
        ))}
      </ul>
    </Card>
  );
}

function Row({ lane, path }: { lane: Lane; path: string }) {
  const env = useEnv();
  const canWrite = useHasAccess('write');
  const { mutate, isPending } = useAction<'retry' | 'skip'>({
    run: (action) => callApi(`${path}/${lane.id}/${action}`, { method: 'POST', env }),
    successMessage: (action) => (action === 'retry' ? 'The event runs again' : 'The lane goes on'),
    invalidates: 'function',
  });
  const { key, state, run_id: runId, waiting, next_at: nextAt } = lane;
  const isStopped = state === 'blocked' || state === 'parked';
  return (
    <li className="flex flex-wrap items-baseline gap-x-6 gap-y-1 px-4 py-3">
      <div className="min-w-0 flex-1 basis-48">
        <p className="font-mono text-xs break-all">{key === '' ? 'No key' : key}</p>
        <p className="text-sm text-muted">
          {STATES[state]}
          {nextAt !== null && (
            <>
              , next <Time at={nextAt} />
            </>
          )}
          {runId !== null && (
            <>
              {' · '}
              <Link to="/runs/$id" params={{ id: runId }} className="text-accent underline">
                {isStopped ? 'Failed run' : 'Run'}
              </Link>
            </>
          )}
        </p>
      </div>
      <div className="text-sm tabular-nums">
        {waiting === 1 ? '1 event waits' : `${formatCount(waiting)} events wait`}
      </div>
      {isStopped && canWrite && (
        <div className="flex gap-2">
          <Button disabled={isPending} onClick={() => mutate('retry')}>
            Retry
          </Button>
          <Button disabled={isPending} onClick={() => mutate('skip')}>
            Skip
          </Button>
        </div>
      )}
    </li>
  );
}

const STATES: Record<Lane['state'], string> = {
  waiting: 'Waits for earlier events',
  running: 'A run is active',
  blocked: 'Blocked by a failed run',
  parked: 'Stopped by a failed run',
};
