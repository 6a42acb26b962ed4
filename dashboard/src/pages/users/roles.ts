import type { User } from '../../api/types.ts';

export type Role = User['role'];

export const ROLES: [Role, string][] = [
  ['admin', 'full access, including keys and users'],
  ['member', 'view and change webhooks, apps and runs'],
  ['read-only', 'view everything except secrets'],
  ['none', 'only the environments with a role of their own'],
];
