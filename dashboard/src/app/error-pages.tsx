import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Page } from '../ui/page.tsx';

export function NotFoundPage() {
  return (
    <Page title="There is no such page">
      <p>
        The address may be mistyped, or what it named is gone.{' '}
        <Link to="/" className="text-accent underline">
          To the overview
        </Link>
      </p>
    </Page>
  );
}

export function ErrorPage({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page failed">
      <ErrorAlert error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
    </Page>
  );
}
