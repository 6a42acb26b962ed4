import type { AppWithFunctions } from '../../api/types.ts';
import { Card } from '../../ui/page.tsx';

/** Functions of the last registration that were not registered. */
export function RefusedFunctions({ functions }: { functions: AppWithFunctions['refused_functions'] }) {
  return (
    <Card title="Functions not registered">
      <ul className="divide-y divide-line">
        {functions.map(({ id, problem }) => (
          <li key={`${id} ${problem}`} className="px-4 py-3">
            <p className="font-mono text-sm break-all">{id ?? 'without an ID'}</p>
            <p className="text-sm break-words text-muted">{problem}</p>
          </li>
        ))}
      </ul>
    </Card>
  );
}
