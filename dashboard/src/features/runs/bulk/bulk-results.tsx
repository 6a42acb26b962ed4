import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useBulkResults } from './requests.ts';
import { SKIP_TEXTS } from './texts.ts';

/** The result for each run, on demand. @param handled number of runs; results are read again when it changes */
export function BulkResults({ env, id, handled }: { env: string; id: string; handled: number }) {
  const [open, setOpen] = useState(false);
  const { data } = useBulkResults(env, id, handled, open);
  const results = data?.data ?? [];
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="cursor-pointer text-muted hover:text-text">Results</summary>
      <ul aria-label="Results" className="mt-1 max-h-40 space-y-0.5 overflow-auto">
        {results.map(({ run_id, rerun_id, skipped_because }) => (
          <li key={run_id} className="truncate">
            <Link
              to="/runs/$id"
              params={{ id: rerun_id ?? run_id }}
              search={{ env } as never}
              className="font-mono text-xs text-accent hover:underline"
            >
              …{(rerun_id ?? run_id).slice(-10)}
            </Link>{' '}
            <span className="text-muted">
              {skipped_because ? SKIP_TEXTS[skipped_because] : rerun_id ? 'new run' : ''}
            </span>
          </li>
        ))}
        {data?.metadata.cursor && <li className="text-muted">The first {results.length} are listed.</li>}
      </ul>
    </details>
  );
}
