import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'neutral';

const TONES: Record<Tone, string> = {
  good: 'text-good bg-good-soft',
  bad: 'text-bad bg-bad-soft',
  warn: 'text-warn bg-warn-soft',
  busy: 'text-busy bg-busy-soft',
  neutral: 'text-muted bg-sunken',
};

/** A state as color, icon and text: never as color alone. */
export function Badge({
  tone,
  icon,
  children,
  title,
}: {
  tone: Tone;
  icon?: IconName;
  children: ReactNode;
  title?: string;
}) {
  return (
    <span
      title={title}
      className={`inline-flex max-w-full items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {icon && <Icon name={icon} className="size-3! shrink-0" />}
      <span className="min-w-0 truncate">{children}</span>
    </span>
  );
}

const RUN_STATUS_STYLES: Record<string, [Tone, IconName]> = {
  Queued: ['neutral', 'clock'],
  Running: ['busy', 'play'],
  Waiting: ['warn', 'clock'],
  Completed: ['good', 'check'],
  Failed: ['bad', 'close'],
  Cancelled: ['neutral', 'close'],
};

/** Status of a run, step or attempt. */
export function RunStatusBadge({ status }: { status: string }) {
  const [tone, icon] = RUN_STATUS_STYLES[status] ?? ['neutral', 'dot'];
  return (
    <Badge tone={tone} icon={icon}>
      {status}
    </Badge>
  );
}
