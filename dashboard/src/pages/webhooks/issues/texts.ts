import type { WebhookIssue } from '../../../api/types.ts';
import type { IconName } from '../../../ui/icon.tsx';
import type { Tone } from '../../../ui/status-badge.tsx';

export const KINDS: Record<WebhookIssue['kind'], string> = {
  verification: 'Verification fails',
  transform: 'The transform or the filter fails',
  quarantine: 'The transform is in quarantine',
  silence: 'No more requests',
};

export const STATES: Record<WebhookIssue['state'], [Tone, IconName, meaning: string]> = {
  open: ['bad', 'warning', 'Nobody has looked yet'],
  acknowledged: ['warn', 'check', 'Somebody knows; failures count on'],
  resolved: ['good', 'check', 'It is over. The next failure reopens it'],
  ignored: ['neutral', 'close', 'Failures count on, and are never told'],
};

export type Action = 'acknowledge' | 'resolve' | 'ignore' | 'reopen';

/** Actions on an issue in each state. */
export const ACTIONS: Record<WebhookIssue['state'], readonly Action[]> = {
  open: ['acknowledge', 'resolve', 'ignore'],
  acknowledged: ['resolve', 'ignore', 'reopen'],
  resolved: ['reopen'],
  ignored: ['reopen'],
};

export const LABELS: Record<Action, [label: string, done: string, IconName]> = {
  acknowledge: ['Acknowledge', 'Issue acknowledged', 'check'],
  resolve: ['Resolve', 'Issue resolved', 'check'],
  ignore: ['Ignore', 'Issue ignored', 'close'],
  reopen: ['Reopen', 'Issue reopened', 'retry'],
};
