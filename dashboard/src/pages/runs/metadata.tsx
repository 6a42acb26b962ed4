import type { RunMetadata, RunWithHistory } from '../../api/types.ts';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

/** Metadata of the run and its steps, set by the function or later by a user. */
export function Metadata({ run: { metadata, history } }: { run: RunWithHistory }) {
  if (metadata.length === 0) return null;
  const names = new Map(history.flatMap(({ step_id, name }) => (step_id && name ? [[step_id, name]] : [])));
  return (
    <Card title="Metadata">
      <ul className="divide-y divide-line">
        {metadata.map((entry) => (
          <li key={keyOf(entry)} className="space-y-1 p-4">
            <p className="flex flex-wrap items-baseline justify-between gap-x-4">
              <span className="font-medium">{entry.kind}</span>
              <span className="text-xs text-muted">
                {aboutOf(entry, names)} · <Time at={entry.updated_at} />
              </span>
            </p>
            <JsonTree value={entry.values} label={`Metadata ${entry.kind}`} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function keyOf({ scope, step_id, attempt, span_id, kind }: RunMetadata): string {
  return JSON.stringify([scope, step_id, attempt, span_id, kind]);
}

function aboutOf({ step_id, attempt }: RunMetadata, names: ReadonlyMap<string, string>): string {
  if (step_id === null) return 'Run';
  const step = `Step ${names.get(step_id) ?? step_id.slice(0, 8)}`;
  return attempt === null ? step : `${step}, attempt ${attempt + 1}`;
}
