import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { Page } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';

export function NotFound() {
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

export function Crash({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page failed">
      <Problem error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
    </Page>
  );
}
