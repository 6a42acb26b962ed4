import { ApiError } from '../api/client.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

const OUTAGE = 'This cannot be loaded now. The page tries again by itself.';

/** The status strip says which it is. */
function isOutage({ status, code }: ApiError): boolean {
  return status === 0 || code === 'unavailable';
}

/** The API's error message, with the code and request ID to look it up. */
export function ErrorAlert({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const details = error instanceof ApiError ? error : undefined;
  return (
    <div role="alert" className="flex items-start gap-3 rounded-lg border border-bad/40 bg-bad-soft p-4 text-text">
      <Icon name="warning" className="mt-0.5 text-bad" />
      <div className="min-w-0 flex-1">
        <p className="break-words">{details && isOutage(details) ? OUTAGE : error.message}</p>
        {details && (
          <p className="mt-1 font-mono text-xs text-muted">
            {details.code}
            {details.requestId && ` · request ${details.requestId}`}
          </p>
        )}
      </div>
      {onRetry && (
        <Button icon="retry" onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  );
}
