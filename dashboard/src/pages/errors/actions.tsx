import { Link } from '@tanstack/react-router';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { ErrorGroup } from '../../api/types.ts';
import { runsOf } from '../../features/errors/error-group-line.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { useAction } from '../../ui/use-action.ts';
import { ACTIONS, STATES } from './texts.ts';

/** Changes the state of the group. */
export function StateButton({ group: { fingerprint, state, message } }: { group: ErrorGroup }) {
  const env = useEnv();
  const canWrite = useHasAccess('write');
  const [action, label, done, icon] = ACTIONS[state];
  const act = useAction({
    run: () => callApi(`/v1/errors/${fingerprint}/${action}`, { method: 'POST', env }),
    invalidates: 'errors',
    successMessage: done,
  });
  if (!canWrite) return null;
  return (
    <Button icon={icon} busy={act.isPending} title={`${label}: ${message}`} onClick={() => act.mutate()}>
      {label}
    </Button>
  );
}

export function StateBadge({ state }: Pick<ErrorGroup, 'state'>) {
  const [tone, icon, meaning] = STATES[state];
  return (
    <Badge tone={tone} icon={icon} title={meaning}>
      {state}
    </Badge>
  );
}

export function RunsLink({ group }: { group: ErrorGroup }) {
  return (
    <Link to="/runs" search={runsOf(group) as never} className="text-accent hover:underline">
      Failed runs
    </Link>
  );
}
