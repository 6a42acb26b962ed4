import { Link } from '@tanstack/react-router';
import type { AppWithFunctions } from '../../api/types.ts';
import { FunctionStatus } from '../../features/functions/function-status.tsx';
import { TriggerSummary } from '../../features/functions/triggers.tsx';
import { Card } from '../../ui/page.tsx';

/** Functions that the app has registered. */
export function AppFunctions({ app: { name, functions } }: { app: AppWithFunctions }) {
  const byName = functions.toSorted((a, b) => a.name.localeCompare(b.name));
  const all = (
    <Link to="/runs" search={{ app: name } as never} className="text-sm text-accent hover:underline">
      View runs
    </Link>
  );
  return (
    <Card title={`Functions (${functions.length})`} actions={all}>
      {functions.length === 0 && (
        <p className="px-4 py-8 text-center text-muted">The app has registered no functions.</p>
      )}
      <ul className="divide-y divide-line">
        {byName.map((fn) => (
          <li key={fn.id} className="flex items-center gap-4 px-4 py-3">
            <div className="min-w-0 flex-1">
              <Link to="/functions/$id" params={{ id: fn.id }} className="block truncate font-medium hover:underline">
                {fn.name}
              </Link>
              <TriggerSummary triggers={fn.triggers} />
            </div>
            <FunctionStatus fn={fn} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
