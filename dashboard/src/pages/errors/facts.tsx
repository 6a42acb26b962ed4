import { Link } from '@tanstack/react-router';
import type { ErrorGroup } from '../../api/types.ts';
import { ErrorSparkline } from '../../features/errors/sparkline.tsx';
import type { ListedRun } from '../../features/runs/run.ts';
import { formatCount } from '../../lib/format.ts';
import { DescriptionItem } from '../../ui/page.tsx';
import { DateTime, Time } from '../../ui/time.tsx';

const USERS_NAMED = 5;

/** How many, since when, and who is hit. @param runs the last failed ones */
export function Facts({ group, runs }: { group: ErrorGroup; runs: readonly ListedRun[] }) {
  const { count, state, state_changed_by: by, times_reopened: reopened, since_deploy, newer_deploy } = group;
  const users = [...new Set(runs.flatMap(({ event_user }) => event_user ?? []))];
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
      {users.length > 0 && (
        <DescriptionItem term={`Users hit, in the last ${runs.length} failed runs`}>
          <Users names={users} />
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

function Users({ names }: { names: readonly string[] }) {
  const named = names.slice(0, USERS_NAMED);
  const more = names.length - named.length;
  return (
    <>
      <span className="font-medium">{formatCount(names.length)}</span>
      <span className="text-muted">
        : {named.join(', ')}
        {more > 0 && ` and ${more} more`}
      </span>
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
