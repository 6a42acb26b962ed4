import { Link } from '@tanstack/react-router';
import type { DetailedErrorGroup } from '../../api/types.ts';
import { ErrorSparkline } from '../../features/errors/sparkline.tsx';
import type { ListedRun } from '../../features/runs/run.ts';
import { formatCount } from '../../lib/format.ts';
import { DescriptionItem } from '../../ui/page.tsx';
import { DateTime, Time } from '../../ui/time.tsx';

const USERS_NAMED = 5;

/** How many, since when, and who is hit. @param runs the last failed ones */
export function Facts({ group, runs }: { group: DetailedErrorGroup; runs: readonly ListedRun[] }) {
  const { count, state, state_changed_by: by, times_reopened: reopened, since_deploy, newer_deploy } = group;
  const names = [...new Set(runs.flatMap(({ event_user }) => event_user ?? []))];
  return (
    <dl className="grid grid-cols-2 gap-3 p-4 *:nth-[n+3]:col-span-2">
      <DescriptionItem term="Failed runs">
        <span className="text-xl font-semibold tabular-nums">{formatCount(count)}</span>
      </DescriptionItem>
      <DescriptionItem term="Last 7 days">
        <ErrorSparkline histogram={group.histogram} />
      </DescriptionItem>
      <DescriptionItem term="Last seen">
        <Time at={group.last_seen} />
      </DescriptionItem>
      <DescriptionItem term="First seen">
        <Time at={group.first_seen} />
      </DescriptionItem>
      {since_deploy && (
        <DescriptionItem term="Deploy before it began">
          <AppLink name={group.app} />, <DateTime at={since_deploy.at} />
        </DescriptionItem>
      )}
      {newer_deploy && (
        <DescriptionItem term="Deploy since the last failure">
          <AppLink name={group.app} />, <DateTime at={newer_deploy.at} />
        </DescriptionItem>
      )}
      {(group.users.count > 0 || names.length > 0) && (
        <DescriptionItem term="Users hit">
          <Users group={group} names={names} />
        </DescriptionItem>
      )}
      {by && (
        <DescriptionItem term={`Since when ${state}`}>
          <Time at={group.state_changed_at} />, by {by.name}
        </DescriptionItem>
      )}
      {reopened > 0 && <DescriptionItem term="Reopened">{formatCount(reopened)} ×</DescriptionItem>}
    </dl>
  );
}

/** @param names of the last ones */
function Users({ group: { users, count }, names }: { group: DetailedErrorGroup; names: readonly string[] }) {
  const isEach = names.length >= users.count;
  const total = Math.max(users.count, names.length);
  const named = names.slice(0, USERS_NAMED);
  return (
    <>
      <span className="font-medium">{isEach ? formatCount(total) : `about ${formatCount(total)}`}</span>
      <span className="text-muted">
        {named.length > 0 && `: ${named.join(', ')}`}
        {named.length > 0 && total > named.length && ' and others'}
      </span>
      {users.runs < count && (
        <span
          className="block text-xs text-muted"
          title="The events of the others name no user, were no longer stored, or were counted by an earlier version"
        >
          Known for {formatCount(users.runs)} of {formatCount(count)} failed runs
        </span>
      )}
    </>
  );
}

function AppLink({ name }: { name: string | null }) {
  if (name === null) return null;
  return (
    <Link to="/apps/$name" params={{ name }} className="text-accent underline">
      {name}
    </Link>
  );
}
