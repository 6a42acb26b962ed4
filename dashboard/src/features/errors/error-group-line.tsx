import { Link } from '@tanstack/react-router';
import type { ErrorGroup } from '../../api/types.ts';
import { formatCount } from '../../lib/format.ts';
import { DAY_MS } from '../../lib/time-units.ts';
import { absolute } from '../../ui/time.tsx';

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** “34 × card refused”, with the error's name, its step, and the deploy since which it happens. */
export function ErrorGroupLine({ group, showsFunction = false }: { group: ErrorGroup; showsFunction?: boolean }) {
  const { fingerprint, count, name, message, step, function_name } = group;
  return (
    <div className="min-w-0 flex-1">
      <p className="flex min-w-0 items-baseline gap-1.5">
        <span className="font-medium whitespace-nowrap text-bad tabular-nums">{formatCount(count)} ×</span>
        <Link
          to="/errors/$fingerprint"
          params={{ fingerprint }}
          className="line-clamp-2 min-w-0 font-medium break-words hover:underline"
          title={message}
        >
          {message || name}
        </Link>
      </p>
      <p className="truncate text-xs text-muted">
        {name}
        {showsFunction && <> in {function_name}</>}
        {step !== null && <>, step {step}</>}
        <SinceDeploy group={group} />
      </p>
    </div>
  );
}

/** Only where the first failure was soon after the deploy. */
export function SinceDeploy({ group: { since_deploy: deploy, opened_at } }: { group: ErrorGroup }) {
  if (!deploy || Date.parse(opened_at) - Date.parse(deploy.at) > DAY_MS) return null;
  const at = new Date(deploy.at);
  return <span title={absolute(at)}>, since the deploy of {clock.format(at)}</span>;
}

/** The runs of the group. */
export function runsOf({ fingerprint, function_id }: ErrorGroup) {
  return { status: 'Failed', function: function_id, fingerprint } as const;
}
