import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { ErrorGroup } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { useAction } from '../../ui/use-action.ts';
import { ACTIONS, STATES } from './texts.ts';

/** Buttons that change the state of the group. */
export function StateButtons({ group: { fingerprint, state, message } }: { group: ErrorGroup }) {
  const env = useEnv();
  const canWrite = useHasAccess('write');
  const act = useAction<(typeof ACTIONS)['open'][number]>({
    run: ({ verb }) => callApi(`/v1/errors/${fingerprint}/${verb}`, { method: 'POST', env }),
    invalidates: 'errors',
    successMessage: ({ done }) => done,
  });
  if (!canWrite) return null;
  return ACTIONS[state].map((action) => (
    <Button
      key={action.verb}
      icon={action.icon}
      busy={act.isPending && act.variables.verb === action.verb}
      title={`${action.label}: ${message}. ${action.meaning}`}
      onClick={() => act.mutate(action)}
    >
      {action.label}
    </Button>
  ));
}

export function StateBadge({ state }: Pick<ErrorGroup, 'state'>) {
  const [tone, icon, meaning] = STATES[state];
  return (
    <Badge tone={tone} icon={icon} title={meaning}>
      {state}
    </Badge>
  );
}
