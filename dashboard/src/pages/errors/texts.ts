import type { ErrorGroup } from '../../api/types.ts';
import type { IconName } from '../../ui/icon.tsx';
import type { Tone } from '../../ui/status-badge.tsx';

export const STATES: Record<ErrorGroup['state'], [Tone, IconName, meaning: string]> = {
  open: ['bad', 'warning', 'Runs fail with it'],
  resolved: ['good', 'check', 'It is over. The next failure reopens it'],
};

export const ACTIONS = {
  open: ['resolve', 'Resolve', 'Error resolved', 'check'],
  resolved: ['reopen', 'Reopen', 'Error reopened', 'retry'],
} as const satisfies Record<ErrorGroup['state'], [action: string, label: string, done: string, IconName]>;
