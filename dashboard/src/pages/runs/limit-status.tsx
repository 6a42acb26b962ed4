import type { ReactNode } from 'react';
import type { Waiting } from '../../api/types.ts';
import { Holders } from '../../features/runs/holders.tsx';
import { formatCount, formatOrdinal } from '../../lib/format.ts';
import { Time, useNow } from '../../ui/time.tsx';

type Limit = Waiting['limits'][number];

/** A sentence that says which limits hold back a run. */
export function LimitStatus({ waiting: { position, earliest_start: start, limits } }: { waiting: Waiting }) {
  const now = useNow();
  const limit = limits.find(({ holds_back }) => holds_back);
  return (
    <>
      {limit ? NAMES[limit.kind](limit) : 'Waits for the runs before it'}
      {limit && limit.kind !== 'paused' && <Key limit={limit} />}
      {limit && limit.held_by.length + limit.held_elsewhere > 0 && (
        <>
          : held by {limit.held_by.length + limit.held_elsewhere === 1 ? 'run' : 'runs'} <Holders {...limit} />
        </>
      )}
      ; {formatOrdinal(position)} in line
      {start !== null && Date.parse(start) > now && (
        <>
          ; may start <Time at={start} />
        </>
      )}
      .
    </>
  );
}

const NAMES: Record<Limit['kind'], (limit: Limit) => ReactNode> = {
  concurrency: ({ limit, scope }) => `Waits for the concurrency limit of ${formatCount(limit)}${SHARED[scope]}`,
  run_concurrency: ({ limit, scope }) =>
    `Waits for the limit of ${formatCount(limit)} ${limit === 1 ? 'run' : 'runs'} at the same time${SHARED[scope]}`,
  throttle: () => 'Waits for the throttle',
  capacity: ({ limit }) => `Waits for the workers, which make up to ${formatCount(limit)} calls at the same time`,
  paused: () => 'Waits until its function is resumed',
};

const SHARED: Record<Limit['scope'], string> = {
  fn: '',
  env: ' that functions of the environment share',
  account: ' that functions of all environments share',
};

function Key({ limit: { key, key_expression } }: { limit: Limit }) {
  if (key === null) return null;
  return (
    <>
      {' '}
      for{' '}
      <code className="font-mono text-xs">
        {key_expression} = {JSON.stringify(key)}
      </code>
    </>
  );
}
