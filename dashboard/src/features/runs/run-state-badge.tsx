import type { RunState } from '../../api/types.ts';
import type { IconName } from '../../ui/icon.tsx';
import { Badge, type Tone } from '../../ui/status-badge.tsx';
import { absolute, useNow } from '../../ui/time.tsx';
import { type RunInState, STATE_LABELS, stateDetail, stateOf } from './run-state.ts';

const STYLES: Record<RunState['kind'], [Tone, IconName]> = {
  queued: ['neutral', 'clock'],
  held: ['warn', 'pause'],
  running: ['busy', 'play'],
  retrying: ['warn', 'retry'],
  sleeping: ['neutral', 'moon'],
  waiting_for_event: ['neutral', 'inbox'],
  waiting_for_signal: ['neutral', 'zap'],
  invoking: ['busy', 'arrow-right'],
  requesting: ['busy', 'send'],
  paused: ['bad', 'pause'],
  completed: ['good', 'check'],
  failed: ['bad', 'close'],
  cancelled: ['neutral', 'close'],
};

/** Where a run is, and until when: "Sleeping · wakes in 14 d".
 *  @param brief without the details, which only the tooltip has */
export function RunStateBadge({ run, brief = false }: { run: RunInState; brief?: boolean }) {
  const state = stateOf(run);
  const Shown = state.until === undefined ? StateBadge : LiveStateBadge;
  return <Shown state={state} brief={brief} nowMs={0} />;
}

function LiveStateBadge(props: BadgeProps) {
  return <StateBadge {...props} nowMs={useNow()} />;
}

interface BadgeProps {
  state: RunState;
  brief: boolean;
  nowMs: number;
}

function StateBadge({ state, brief, nowMs }: BadgeProps) {
  const { kind, until } = state;
  const [tone, icon] = STYLES[kind];
  const detail = stateDetail(state, nowMs);
  const text =
    detail === undefined ? STATE_LABELS[kind] : `${STATE_LABELS[kind]} ${kind === 'retrying' ? '' : '· '}${detail}`;
  const title = until === undefined ? text : `${text} (${absolute(new Date(until))})`;
  return (
    <Badge tone={tone} icon={icon} title={title}>
      {brief ? STATE_LABELS[kind] : text}
    </Badge>
  );
}
