/** Users: people who sign in. */
import { z } from 'zod';
import type { Access, Principal } from './access.ts';

export const ROLES = ['admin', 'member', 'read-only'] as const;
export type Role = (typeof ROLES)[number];

const ACCESS_OF: Record<Role, Access> = { admin: 'admin', member: 'write', 'read-only': 'read' };

export const PASSWORD_MIN = 12;
/** A longer password only takes longer to hash. */
const PASSWORD_MAX = 256;

export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());
export const roleSchema = z.enum(ROLES).describe('admin: everything; member: read and write; read-only');
export const passwordSchema = z
  .string()
  .min(PASSWORD_MIN, `a password has at least ${PASSWORD_MIN} characters`)
  .max(PASSWORD_MAX);

export interface User {
  id: string;
  /** Lower case, unique. */
  email: string;
  role: Role;
  /** Hash by password.ts; undefined: invited, cannot sign in yet. */
  password?: string;
  /** Changes with the password, which ends all earlier sessions. */
  version: string;
  /** Unix milliseconds. */
  createdAt: number;
  updatedAt: number;
}

export function principalOfUser({ id, email, role }: User): Principal {
  return { kind: 'user', id, name: email, access: ACCESS_OF[role] };
}
