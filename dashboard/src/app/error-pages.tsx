import { type ErrorComponentProps, Link } from '@tanstack/react-router';
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

export function ErrorPage({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="Something went wrong">
      <ErrorAlert error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
    </Page>
  );
}
