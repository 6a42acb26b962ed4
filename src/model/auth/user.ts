/** People who sign in. */
import { z } from 'zod';
import type { Access, Principal } from './access.ts';

export const ROLES = ['admin', 'member', 'read-only'] as const;
export type Role = (typeof ROLES)[number];

const ACCESS_OF: Record<Role, Access> = { admin: 'admin', member: 'write', 'read-only': 'read' };

export const PASSWORD_MIN = 12;
/** Longer ones cost time to hash and add nothing. */
const PASSWORD_MAX = 256;

export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());
export const roleSchema = z.enum(ROLES).meta({ description: 'admin: everything; member: read and write; read-only' });
export const passwordSchema = z
  .string()
  .min(PASSWORD_MIN, `a password has at least ${PASSWORD_MIN} characters`)
  .max(PASSWORD_MAX);

export interface User {
  id: string;
  /** In lower case; no two users have the same. */
  email: string;
  role: Role;
  /** As password.ts writes it; none: invited, and not yet able to sign in. */
  password?: string;
  /** Another one whenever the password is another: sessions of the one before are over. */
  version: string;
  /** Unix milliseconds. */
  createdAt: number;
  updatedAt: number;
}

export function principalOfUser({ id, email, role }: User): Principal {
  return { kind: 'user', id, name: email, access: ACCESS_OF[role] };
}
