/** The pages in the navigation, the command palette and the keyboard shortcuts, and who may read them. */
import { useCurrentUser, useHasAccess } from '../api/current-user.ts';
import type { IconName } from '../ui/icon.tsx';

export interface NavItem {
  to: string;
  label: string;
  icon: IconName;
  /** Second key after `g`. */
  shortcut: string;
  group: 'monitor' | 'run' | 'receive' | 'manage';
  /** What its user must be able to read (docs/security.md#roles-by-environment): the selected environment, or the whole installation as
   *  an admin. `any`: it lists what belongs to the environments that the user may see. */
  access: 'environment' | 'any' | 'admin';
}

const NAV_ITEMS: NavItem[] = [
  { to: '/', label: 'Overview', icon: 'gauge', shortcut: 'o', group: 'monitor', access: 'environment' },
  { to: '/events', label: 'Events', icon: 'zap', shortcut: 'e', group: 'monitor', access: 'environment' },
  { to: '/runs', label: 'Runs', icon: 'play', shortcut: 'r', group: 'monitor', access: 'environment' },
  { to: '/errors', label: 'Errors', icon: 'warning', shortcut: 'x', group: 'monitor', access: 'environment' },
  { to: '/alerts', label: 'Alerts', icon: 'shield', shortcut: 't', group: 'monitor', access: 'environment' },
  { to: '/replays', label: 'Replays', icon: 'replay', shortcut: 'p', group: 'monitor', access: 'environment' },
  { to: '/functions', label: 'Functions', icon: 'code', shortcut: 'f', group: 'run', access: 'environment' },
  { to: '/apps', label: 'Apps', icon: 'box', shortcut: 'a', group: 'run', access: 'environment' },
  { to: '/jobs', label: 'Queues', icon: 'layers', shortcut: 'q', group: 'run', access: 'environment' },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhook', shortcut: 'w', group: 'receive', access: 'any' },
  { to: '/destinations', label: 'Destinations', icon: 'send', shortcut: 'd', group: 'receive', access: 'environment' },
  { to: '/webhook-issues', label: 'Webhook issues', icon: 'webhook', shortcut: 'i', group: 'receive', access: 'any' },
  { to: '/held-events', label: 'Held events', icon: 'inbox', shortcut: 'h', group: 'receive', access: 'any' },
  { to: '/keys', label: 'Keys', icon: 'key', shortcut: 'k', group: 'manage', access: 'any' },
  { to: '/environments', label: 'Environments', icon: 'branch', shortcut: 'n', group: 'manage', access: 'any' },
  { to: '/users', label: 'Users', icon: 'users', shortcut: 'u', group: 'manage', access: 'admin' },
  { to: '/audit-log', label: 'Audit log', icon: 'scroll', shortcut: 'l', group: 'manage', access: 'admin' },
  { to: '/settings', label: 'Settings', icon: 'sliders', shortcut: 's', group: 'manage', access: 'admin' },
];

/** The page to which a path belongs. @returns undefined for the account page, which is everybody's, and for unknown paths */
export function pageOf(path: string): NavItem | undefined {
  return NAV_ITEMS.find(({ to }) => path === to || (to !== '/' && path.startsWith(`${to}/`)));
}

/** Whether the user may read a page. While the user is unknown, only pages for admins are withheld. */
export function useMayRead(): (page: NavItem) => boolean {
  const isUnknown = useCurrentUser() === undefined;
  const reads = useHasAccess('read');
  const isAdmin = useHasAccess('admin');
  return ({ access }) => access === 'any' || (access === 'admin' ? isAdmin : reads || isUnknown);
}

/** The pages that the user may read. */
export function usePages(): NavItem[] {
  return NAV_ITEMS.filter(useMayRead());
}
