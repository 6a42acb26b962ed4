import type { User } from '../../api/types.ts';

export type Role = User['role'];

export const ROLES: [Role, string][] = [
  ['admin', 'everything, keys and members too'],
  ['member', 'look and change: webhooks, apps, runs'],
  ['read-only', 'look at everything but secrets'],
];
