import type { FunctionLimits } from '../../api/types.ts';
import { Holders } from '../../features/runs/holders.tsx';
import { formatCount } from '../../lib/format.ts';
import { Time } from '../../ui/time.tsx';

type Backlog = FunctionLimits['longest_backlogs'][number];

/** The values of keys with the most calls that wait. */
export function Backlogs({ longest }: { longest: readonly Backlog[] }) {
  return (
    <table className="w-full table-fixed border-t border-line text-left">
      <caption className="sr-only">Longest backlogs</caption>
      <thead className="text-xs text-muted">
        <tr>
          <th scope="col" className="px-4 py-2 font-medium">
            Backlog
          </th>
          <th scope="col" className="w-20 px-2 py-2 text-right font-medium">
            Waiting
          </th>
          <th scope="col" className="w-24 px-4 py-2 text-right font-medium">
            Since
          </th>
          <th scope="col" className="hidden px-4 py-2 font-medium sm:table-cell">
            Waits for
          </th>
        </tr>
      </thead>
      <tbody>
        {longest.map((backlog) => (
          <Row
            key={JSON.stringify([backlog.keys, backlog.limits.map(({ kind, limit }) => [kind, limit])])}
            {...backlog}
          />
        ))}
      </tbody>
    </table>
  );
}

function Row({ keys, waiting, since, limits }: Backlog) {
  const entries = Object.entries(keys);
  return (
    <tr className="border-t border-line align-baseline">
      <td className="px-4 py-2">
        {entries.length === 0 && 'All runs'}
        {entries.map(([expression, value]) => (
          <p key={expression} className="font-mono text-xs break-all">
            {expression} = {JSON.stringify(value)}
          </p>
        ))}
      </td>
      <td className="px-2 py-2 text-right tabular-nums">{formatCount(waiting)}</td>
      <td className="px-4 py-2 text-right text-sm text-muted">
        <Time at={since} />
      </td>
      <td className="hidden px-4 py-2 text-sm sm:table-cell">
        <WaitsFor limit={limits.find(({ holds_back }) => holds_back)} />
      </td>
    </tr>
  );
}

function WaitsFor({ limit }: { limit: Backlog['limits'][number] | undefined }) {
  if (!limit) return <span className="text-muted">–</span>;
  const { kind, limit: size, in_use, held_by, held_elsewhere } = limit;
  if (kind === 'paused') return 'The function is paused';
  if (kind === 'throttle') return 'Throttle';
  return (
    <>
      {KINDS[kind]}: {formatCount(in_use)} of {formatCount(size)}
      {held_by.length + held_elsewhere > 0 && (
        <>
          , held by <Holders {...limit} />
        </>
      )}
    </>
  );
}

const KINDS = { concurrency: 'Calls', run_concurrency: 'Runs', capacity: 'Workers' } as const;
