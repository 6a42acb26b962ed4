import { Link } from '@tanstack/react-router';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { ErrorGroupLine } from './error-group-line.tsx';
import { useFrequentErrors, useLiveErrors } from './queries.ts';
import { ErrorSparkline } from './sparkline.tsx';

const SHOWN = 5;

/** Why runs failed in the last 24 hours, the most frequent reason first.
 *  @param functionId undefined: of all functions */
export function FrequentErrors({ functionId }: { functionId?: string }) {
  const { data, error, refetch } = useFrequentErrors(functionId);
  useLiveErrors();
  const more = (
    <Link
      to="/errors"
      search={functionId === undefined ? {} : { function: functionId }}
      className="text-sm text-accent hover:underline"
    >
      All errors
    </Link>
  );
  return (
    <Card title="Errors of the last 24 hours" actions={more}>
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading rows={3} />}
      {data?.length === 0 && (
        <p className="flex items-center gap-2 p-4 text-muted">
          <Icon name="check" className="text-good" />
          No failed runs with an open error
        </p>
      )}
      {data && data.length > 0 && (
        <ul aria-label="Errors" className="divide-y divide-line">
          {data.slice(0, SHOWN).map((group) => (
            <li key={group.fingerprint} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
              <ErrorGroupLine group={group} showsFunction={functionId === undefined} />
              <ErrorSparkline histogram={group.histogram} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** On the page of a function. */
export function FunctionErrors({ id }: { id: string }) {
  return <FrequentErrors functionId={id} />;
}
