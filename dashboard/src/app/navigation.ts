/** The pages in the navigation, the command palette and the keyboard shortcuts. */
import type { IconName } from '../ui/icon.tsx';

export interface NavItem {
  to: string;
  label: string;
  icon: IconName;
  /** Second key after `g`. */
  shortcut: string;
  group: 'monitor' | 'run' | 'receive' | 'manage';
}

export const NAV_ITEMS: NavItem[] = [
  { to: '/', label: 'Overview', icon: 'gauge', shortcut: 'o', group: 'monitor' },
  { to: '/events', label: 'Events', icon: 'zap', shortcut: 'e', group: 'monitor' },
  { to: '/runs', label: 'Runs', icon: 'play', shortcut: 'r', group: 'monitor' },
  { to: '/errors', label: 'Errors', icon: 'warning', shortcut: 'x', group: 'monitor' },
  { to: '/alerts', label: 'Alerts', icon: 'shield', shortcut: 't', group: 'monitor' },
  { to: '/replays', label: 'Replays', icon: 'replay', shortcut: 'p', group: 'monitor' },
  { to: '/functions', label: 'Functions', icon: 'code', shortcut: 'f', group: 'run' },
  { to: '/apps', label: 'Apps', icon: 'box', shortcut: 'a', group: 'run' },
  { to: '/jobs', label: 'Queues', icon: 'layers', shortcut: 'q', group: 'run' },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhook', shortcut: 'w', group: 'receive' },
  { to: '/destinations', label: 'Destinations', icon: 'send', shortcut: 'd', group: 'receive' },
  { to: '/webhook-issues', label: 'Webhook issues', icon: 'webhook', shortcut: 'i', group: 'receive' },
  { to: '/held-events', label: 'Held events', icon: 'inbox', shortcut: 'h', group: 'receive' },
  { to: '/keys', label: 'Keys', icon: 'key', shortcut: 'k', group: 'manage' },
  { to: '/environments', label: 'Environments', icon: 'branch', shortcut: 'n', group: 'manage' },
  { to: '/users', label: 'Users', icon: 'users', shortcut: 'u', group: 'manage' },
  { to: '/audit-log', label: 'Audit log', icon: 'scroll', shortcut: 'l', group: 'manage' },
  { to: '/settings', label: 'Settings', icon: 'sliders', shortcut: 's', group: 'manage' },
];
