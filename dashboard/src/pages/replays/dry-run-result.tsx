import { Link } from '@tanstack/react-router';
import type { ReplayDryRun } from '../../api/types.ts';
import { totalOf } from '../../ui/bulk-operations/operation.ts';
import { absolute, Time } from '../../ui/time.tsx';
import { formerStatusText, reasonText } from './texts.ts';

const LINK = 'text-accent hover:underline';

/** The runs that a replay would start, by function, with a sample. */
export function DryRunResult({ result }: { result: ReplayDryRun }) {
  const { looked_at, matched, would_start, by_function, skipped, sample, stopped_at } = result;
  const least = stopped_at === null ? '' : 'at least ';
  return (
    <section aria-label="Dry run" className="space-y-4 rounded-lg border border-line p-4">
      <p role="status">
        <strong className="font-semibold">
          Would start {least}
          {would_start.toLocaleString()} {would_start === 1 ? 'run' : 'runs'}
        </strong>{' '}
        for {least}
        {matched.toLocaleString()} of {looked_at.toLocaleString()} events.
      </p>
      {stopped_at && (
        <p className="text-sm text-warn">
          The dry run stopped after 5 s. It looked at events received before {absolute(new Date(stopped_at))}; the
          replay looks at all of them.
        </p>
      )}
      {by_function.length > 0 && (
        <ul aria-label="Runs by function" className="divide-y divide-line border-y border-line">
          {by_function.map(({ function_id, would_start: count, by_former_status }) => (
            <li key={function_id} className="flex flex-wrap justify-between gap-x-4 py-1.5 text-sm">
              <span className="min-w-0 break-words">{function_id}</span>
              <span className="text-muted tabular-nums">
                {count.toLocaleString()} (
                {Object.entries(by_former_status)
                  .map(([status, of]) => `${formerStatusText(status)}: ${of.toLocaleString()}`)
                  .join(', ')}
                )
              </span>
            </li>
          ))}
        </ul>
      )}
      <Counts title="Would be skipped" counts={skipped} />
      {sample.length > 0 && (
        <div>
          <h3 className="mb-1 text-sm font-medium">The first {sample.length}</h3>
          <ul aria-label="Sample" className="space-y-1 text-sm">
            {sample.map(({ event_id, event_name, received_at, function_id, former_status, former_run_id }) => (
              <li key={`${event_id} ${function_id}`} className="flex flex-wrap gap-x-3">
                <Link to="/events/$id" params={{ id: event_id }} className={LINK}>
                  {event_name}
                </Link>
                <span className="text-muted">
                  <Time at={received_at} />
                </span>
                <span className="min-w-0 break-words">{function_id}</span>
                {former_run_id ? (
                  <Link to="/runs/$id" params={{ id: former_run_id }} className={LINK}>
                    {formerStatusText(former_status)}
                  </Link>
                ) : (
                  <span className="text-muted">{formerStatusText(former_status)}</span>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

/** Numbers by reason; nothing if all are 0. */
export function Counts({ title, counts }: { title: string; counts: Record<string, number | undefined> }) {
  const shown = Object.entries(counts).filter(([, count = 0]) => count > 0);
  if (shown.length === 0) return null;
  return (
    <div>
      <h3 className="text-sm font-medium">
        {title}: {totalOf(counts).toLocaleString()}
      </h3>
      <ul aria-label={title} className="mt-1 text-sm text-muted">
        {shown.map(([reason, count = 0]) => (
          <li key={reason}>
            {count.toLocaleString()}: {reasonText(reason)}
          </li>
        ))}
      </ul>
    </div>
  );
}
