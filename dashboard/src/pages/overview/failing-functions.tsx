import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/types.ts';
import { failureRate } from '../../features/metrics/metrics.ts';
import { formatCount, formatPercent } from '../../lib/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';

/** Functions with the most failed runs in the last 24 hours, linked to those runs. */
export function FailingFunctions({ functions }: { functions: Overview['failing_functions'] }) {
  return (
    <Card title="Failing functions" actions={<span className="text-xs text-muted">last 24 hours</span>}>
      {functions.length === 0 ? (
        <p className="flex items-center gap-2 p-4 text-muted">
          <Icon name="check" className="text-good" />
          No failed runs
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {functions.map(({ function_id, name, completed, failed }) => (
            <li key={function_id}>
              <Link
                to="/runs"
                search={{ status: 'Failed', function: function_id }}
                className="flex items-center gap-4 px-4 py-2.5 hover:bg-sunken"
              >
                <span className="min-w-0 flex-1">
                  <span className="block truncate">{name}</span>
                  {name !== function_id && (
                    <span className="block truncate font-mono text-xs text-muted">{function_id}</span>
                  )}
                </span>
                <span className="text-right text-xs whitespace-nowrap text-muted tabular-nums">
                  <span className="block text-sm font-medium text-bad">{formatCount(failed)} failed</span>
                  {formatPercent(failureRate(completed, failed) ?? 0)} of {formatCount(completed + failed)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
