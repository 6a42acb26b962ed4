import { Link } from '@tanstack/react-router';
import { useCurrentUser } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { ListedFunction } from '../../api/types.ts';
import { curlSnippet } from '../../features/events/snippets/curl.ts';
import { sendTarget } from '../../features/events/snippets/target.ts';
import { useFunctions } from '../../features/functions/queries.ts';
import { EmptyState } from '../../ui/empty-state.tsx';

/** @param filtered there may be others, which the filters leave out */
export function RunsEmptyState({ filtered }: { filtered: boolean }) {
  const env = useEnv();
  const dev = useCurrentUser()?.kind === 'dev';
  const { functions } = useFunctions();
  if (filtered) {
    return (
      <EmptyState title="No run is like that">
        Choose another status, function or time, or{' '}
        <Link to="/runs" className="text-accent underline">
          see all
        </Link>
        .
      </EmptyState>
    );
  }
  if (functions?.length === 0) {
    return (
      <EmptyState title="Nothing can run yet">
        No function is registered in this environment.{' '}
        <Link to="/apps" className="text-accent underline">
          Register an app
        </Link>
        , and send an event that triggers a function of it.
      </EmptyState>
    );
  }
  const event = { name: triggerAmong(functions ?? []) ?? 'order/paid', data: {} };
  return (
    <EmptyState title="Nothing has run yet" command={curlSnippet(event, sendTarget(env, dev))}>
      A run begins when an event comes whose name triggers a function, such as this one.
    </EmptyState>
  );
}

/** Name of an event that triggers one of them. */
function triggerAmong(functions: readonly ListedFunction[]): string | undefined {
  const names = functions
    .filter(({ paused_at }) => paused_at === null)
    .flatMap(({ triggers = [] }) => triggers.map(({ event }) => event));
  return names.find((name) => name !== undefined && !name.includes('*'));
}
