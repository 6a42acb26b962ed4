import { Link } from '@tanstack/react-router';
import type { FunctionLimits } from '../../api/types.ts';
import { hasLimits, useFunctionLimits } from '../../features/functions/queries.ts';
import { Holders } from '../../features/runs/holders.tsx';
import { formatCount } from '../../lib/format.ts';
import { Card } from '../../ui/page.tsx';
import { Backlogs } from './backlogs.tsx';

type Limit = FunctionLimits['limits'][number];

/** How much of its limits a function uses, and what waits for them; live. */
export function Limits({ functionId }: { functionId: string }) {
  const all = useFunctionLimits(functionId).data?.data;
  if (!all || !hasLimits(all)) return null;
  const { waiting, limits, longest_backlogs: longest } = all;
  const waits =
    waiting === 0 ? 'No calls wait' : `${formatCount(waiting)} ${waiting === 1 ? 'call waits' : 'calls wait'}`;
  const queued = (
    <Link
      to="/runs"
      search={{ function: functionId, status: 'Queued' } as never}
      className="text-sm text-accent hover:underline"
    >
      Queued runs
    </Link>
  );
  return (
    <Card
      title="Limits"
      actions={
        <>
          <span className="text-sm text-muted">{waits}</span>
          {waiting > 0 && queued}
        </>
      }
    >
      {limits.length > 0 && (
        <ul aria-label="Limits" className="divide-y divide-line">
          {limits.map((limit) => (
            <Line key={`${limit.kind} ${limit.scope} ${limit.key_expression} ${limit.limit}`} limit={limit} />
          ))}
        </ul>
      )}
      {longest.length > 0 && <Backlogs longest={longest} />}
    </Card>
  );
}

function Line({ limit }: { limit: Limit }) {
  const { kind, scope, key_expression: expression, held_by, held_elsewhere } = limit;
  return (
    <li className="flex flex-wrap items-baseline gap-x-6 gap-y-1 px-4 py-3">
      <div className="min-w-0 flex-1 basis-48 break-words">
        {NAMES[kind]}
        {SHARED[scope]}
        {expression !== null && (
          <span className="text-muted">
            {', for each '}
            <code className="font-mono text-xs break-all">{expression}</code>
          </span>
        )}
        {held_by.length + held_elsewhere > 0 && limit.in_use !== null && (
          <p className="text-sm text-muted">
            Held by <Holders {...limit} in_use={limit.in_use} />
          </p>
        )}
      </div>
      <div className="tabular-nums">{useOf(limit)}</div>
    </li>
  );
}

const NAMES: Record<Limit['kind'], string> = {
  concurrency: 'Calls at the same time',
  run_concurrency: 'Runs at the same time',
  throttle: 'Starts in a period',
  capacity: 'Calls that the workers make at the same time',
  paused: 'Queued runs wait until the function is resumed',
};

const SHARED: Record<Limit['scope'], string> = {
  fn: '',
  env: ' of all functions of the environment with the same key',
  account: ' of all environments with the same key',
};

function useOf({ kind, in_use, limit }: Limit): string {
  if (kind === 'paused') return '';
  if (kind === 'throttle' || in_use === null) return `up to ${formatCount(limit)}`;
  return `${formatCount(in_use)} of ${formatCount(limit)}`;
}
