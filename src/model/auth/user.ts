/** Users: people who sign in. */
import { z } from 'zod';
import type { Access, Principal } from './access.ts';
import type { SecondFactors } from './second-factors.ts';

export const ROLES = ['admin', 'member', 'read-only'] as const;
export type Role = (typeof ROLES)[number];

const ACCESS_OF: Record<Role, Access> = { admin: 'admin', member: 'write', 'read-only': 'read' };

export const PASSWORD_MIN = 12;
/** A longer password only takes longer to hash. */
export const PASSWORD_MAX = 256;

export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());
export const roleSchema = z.enum(ROLES).describe('admin: everything; member: read and write; read-only');
export const passwordSchema = z
  .string()
  .min(PASSWORD_MIN, `a password has at least ${PASSWORD_MIN} characters`)
  .max(PASSWORD_MAX);

/** A user of an OpenID provider, who is the same person as long as the subject is, whatever the email address. */
export interface Identity {
  issuer: string;
  subject: string;
}

export interface User {
  id: string;
  /** Lower case, unique. */
  email: string;
  role: Role;
  /** Hash by password.ts; undefined: invited, or signs in with an identity. */
  password?: string;
  /** By which the user signs in at providers. */
  identities?: Identity[];
  /** Asked for after the password. */
  secondFactors?: SecondFactors;
  /** Changes with the password and the second factors, which ends all earlier sessions. */
  version: string;
  /** Unix milliseconds. */
  createdAt: number;
  updatedAt: number;
}

/** Whether the user has set a password, or signed in at a provider. */
export function isActive({ password, identities = [] }: User): boolean {
  return password !== undefined || identities.length > 0;
}

export function principalOfUser({ id, email, role }: User): Principal {
  return { kind: 'user', id, name: email, access: ACCESS_OF[role] };
}
