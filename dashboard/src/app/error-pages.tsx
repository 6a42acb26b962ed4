import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useEnv } from '../api/environment.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Page } from '../ui/page.tsx';

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <p>
        Check the URL. The resource may have been deleted.{' '}
        <Link to="/" className="text-accent underline">
          Go to the overview
        </Link>
      </p>
    </Page>
  );
}

/** One sentence, instead of a page whose requests all fail. */
export function UnknownEnvironmentPage() {
  const env = useEnv();
  return (
    <Page title="Environment not found">
      <p>
        There is no environment <strong className="font-medium break-words">{env}</strong>: choose another one above, or{' '}
        <Link
          to="."
          search={(before: object) => ({ ...before, env: undefined }) as never}
          className="text-accent underline"
        >
          go to production
        </Link>
        .
      </p>
    </Page>
  );
}

export function ErrorPage({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="Something went wrong">
      <ErrorAlert error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
    </Page>
  );
}
