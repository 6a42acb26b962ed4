/** The ways through the dashboard, as the frame, the palette and the keyboard offer them. */
import type { IconName } from '../ui/icon.tsx';

export interface Place {
  to: string;
  label: string;
  icon: IconName;
  /** Second key after `g`. */
  key: string;
  group: 'watch' | 'run' | 'receive' | 'manage';
}

export const PLACES: Place[] = [
  { to: '/', label: 'Overview', icon: 'gauge', key: 'o', group: 'watch' },
  { to: '/events', label: 'Events', icon: 'bolt', key: 'e', group: 'watch' },
  { to: '/runs', label: 'Runs', icon: 'play', key: 'r', group: 'watch' },
  { to: '/functions', label: 'Functions', icon: 'code', key: 'f', group: 'run' },
  { to: '/apps', label: 'Apps', icon: 'box', key: 'a', group: 'run' },
  { to: '/jobs', label: 'Queues', icon: 'stack', key: 'q', group: 'run' },
  { to: '/webhooks', label: 'Webhooks', icon: 'hook', key: 'w', group: 'receive' },
  { to: '/held-events', label: 'Holding page', icon: 'inbox', key: 'h', group: 'receive' },
  { to: '/keys', label: 'Keys', icon: 'key', key: 'k', group: 'manage' },
  { to: '/environments', label: 'Environments', icon: 'branch', key: 'n', group: 'manage' },
  { to: '/members', label: 'Members', icon: 'people', key: 'm', group: 'manage' },
  { to: '/audit-log', label: 'Audit log', icon: 'scroll', key: 'l', group: 'manage' },
  { to: '/settings', label: 'Settings', icon: 'sliders', key: 's', group: 'manage' },
];
