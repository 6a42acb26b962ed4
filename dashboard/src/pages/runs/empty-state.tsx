import { Link } from '@tanstack/react-router';
import { useCurrentUser } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { ListedFunction } from '../../api/types.ts';
import { curlSnippet } from '../../features/events/snippets/curl.ts';
import { sendTarget } from '../../features/events/snippets/target.ts';
import { useFunctions } from '../../features/functions/queries.ts';
import { buttonClass } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';

/** @param filtered filters are active
 *  @param excludes one of them leaves out schedules and failure handlers */
export function RunsEmptyState({ filtered, excludes }: { filtered: boolean; excludes: boolean }) {
  const env = useEnv();
  const dev = useCurrentUser()?.kind === 'dev';
  const { functions } = useFunctions();
  if (filtered) {
    return (
      <EmptyState title="No results">
        <p className="mb-4">
          No run matches all filters.{excludes && ' Those of schedules and failure handlers are left out.'}
        </p>
        <Link to="/runs" search={(excludes ? { all: true } : {}) as never} className={buttonClass()}>
          Clear filters
        </Link>
      </EmptyState>
    );
  }
  if (functions?.length === 0) {
    return (
      <EmptyState title="No functions registered">
        <Link to="/apps" className="text-accent underline">
          Register an app
        </Link>
        , then send an event that triggers one of its functions.
      </EmptyState>
    );
  }
  const event = { name: triggerOf(functions ?? []) ?? 'order/paid', data: {} };
  return (
    <EmptyState title="No runs yet" command={curlSnippet(event, sendTarget(env, dev))}>
      A run starts when an event triggers a function. For example:
    </EmptyState>
  );
}

/** Name of an event that triggers one of the functions. */
function triggerOf(functions: readonly ListedFunction[]): string | undefined {
  const names = functions
    .filter(({ paused_at }) => paused_at === null)
    .flatMap(({ triggers = [] }) => triggers.map(({ event }) => event));
  return names.find((name) => name !== undefined && !name.includes('*'));
}
