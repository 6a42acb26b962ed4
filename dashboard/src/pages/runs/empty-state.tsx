import { Link } from '@tanstack/react-router';
import { useMe } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { ListedFunction } from '../../api/types.ts';
import { curlOf } from '../../features/events/snippets/curl.ts';
import { placeOf } from '../../features/events/snippets/target.ts';
import { useAllFunctions } from '../../features/functions/queries.ts';
import { Empty } from '../../ui/empty-state.tsx';

/** @param filtered there may be others, which the filters leave out */
export function NoRuns({ filtered }: { filtered: boolean }) {
  const env = useEnv();
  const dev = useMe()?.kind === 'dev';
  const { functions } = useAllFunctions();
  if (filtered) {
    return (
      <Empty title="No run is like that">
        Choose another status, function or time, or{' '}
        <Link to="/runs" className="text-accent underline">
          see all
        </Link>
        .
      </Empty>
    );
  }
  if (functions?.length === 0) {
    return (
      <Empty title="Nothing can run yet">
        No function is registered in this environment.{' '}
        <Link to="/apps" className="text-accent underline">
          Register an app
        </Link>
        , and send an event that triggers a function of it.
      </Empty>
    );
  }
  const event = { name: triggerAmong(functions ?? []) ?? 'order/paid', data: {} };
  return (
    <Empty title="Nothing has run yet" paste={curlOf(event, placeOf(env, dev))}>
      A run begins when an event comes whose name triggers a function, such as this one.
    </Empty>
  );
}

/** Name of an event that triggers one of them. */
function triggerAmong(functions: readonly ListedFunction[]): string | undefined {
  const names = functions
    .filter(({ paused_at }) => paused_at === null)
    .flatMap(({ triggers = [] }) => triggers.map(({ event }) => event));
  return names.find((name) => name !== undefined && !name.includes('*'));
}
