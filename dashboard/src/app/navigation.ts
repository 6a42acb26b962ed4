/** The ways through the dashboard, as the frame, the palette and the keyboard offer them. */
import type { IconName } from '../ui/icon.tsx';

export interface NavItem {
  to: string;
  label: string;
  icon: IconName;
  /** Second key after `g`. */
  shortcut: string;
  group: 'watch' | 'run' | 'receive' | 'manage';
}

export const NAV_ITEMS: NavItem[] = [
  { to: '/', label: 'Overview', icon: 'gauge', shortcut: 'o', group: 'watch' },
  { to: '/events', label: 'Events', icon: 'bolt', shortcut: 'e', group: 'watch' },
  { to: '/runs', label: 'Runs', icon: 'play', shortcut: 'r', group: 'watch' },
  { to: '/functions', label: 'Functions', icon: 'code', shortcut: 'f', group: 'run' },
  { to: '/apps', label: 'Apps', icon: 'box', shortcut: 'a', group: 'run' },
  { to: '/jobs', label: 'Queues', icon: 'stack', shortcut: 'q', group: 'run' },
  { to: '/webhooks', label: 'Webhooks', icon: 'hook', shortcut: 'w', group: 'receive' },
  { to: '/held-events', label: 'Holding page', icon: 'inbox', shortcut: 'h', group: 'receive' },
  { to: '/keys', label: 'Keys', icon: 'key', shortcut: 'k', group: 'manage' },
  { to: '/environments', label: 'Environments', icon: 'branch', shortcut: 'n', group: 'manage' },
  { to: '/members', label: 'Members', icon: 'people', shortcut: 'm', group: 'manage' },
  { to: '/audit-log', label: 'Audit log', icon: 'scroll', shortcut: 'l', group: 'manage' },
  { to: '/settings', label: 'Settings', icon: 'sliders', shortcut: 's', group: 'manage' },
];
