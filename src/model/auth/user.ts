/** Users: people who sign in. */
import { z } from 'zod';
import { BRANCH_SET, environmentNameSchema } from '../environment.ts';
import { isJsonObject } from '../values/json.ts';
import type { AccessLevel, Principal } from './access.ts';
import type { SecondFactors } from './second-factors.ts';

export const ROLES = ['admin', 'member', 'read-only', 'none'] as const;
export type Role = (typeof ROLES)[number];

/** Roles by the name of an environment; "branches": all branch environments that are not named. */
export type EnvironmentRoles = Readonly<Record<string, Role>>;

const ACCESS_OF: Record<Role, AccessLevel> = { admin: 'admin', member: 'write', 'read-only': 'read', none: 'none' };
const ENVIRONMENT_ROLES_MAX = 100;

export const PASSWORD_MIN = 12;
/** A longer password only takes longer to hash. */
export const PASSWORD_MAX = 256;

export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());
export const roleSchema = z
  .enum(ROLES)
  .describe('admin: everything; member: read and write; read-only; none: only what `environment_roles` gives');
export const environmentRolesSchema = z
  .preprocess(
    (given, context) => {
      // Counted first: validating a role takes microseconds.
      if (!isJsonObject(given) || Object.keys(given).length <= ENVIRONMENT_ROLES_MAX) return given;
      context.addIssue({ code: 'custom', message: `expected at most ${ENVIRONMENT_ROLES_MAX} environments` });
      return z.NEVER;
    },
    z.record(z.union([z.literal(BRANCH_SET), environmentNameSchema]), z.enum(ROLES)),
  )
  .describe(
    'Roles that replace `role` in single environments, by name; `branches`: in all branch environments that are not named; none: the environment is hidden',
  );
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
  /** The role in the installation, and in environments without a role of their own. */
  role: Role;
  environmentRoles?: EnvironmentRoles;
  /** Hash by password.ts; undefined: invited, or signs in with an identity. */
  password?: string;
  /** Identities at providers, with which the user signs in. */
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

/** For people: `member, admin in staging`. */
export function rolesText({ role, environmentRoles = {} }: Pick<User, 'role' | 'environmentRoles'>): string {
  const named = Object.entries(environmentRoles).sort(([a], [b]) => (a < b ? -1 : 1));
  return [role, ...named.map(([name, of]) => `${of} in ${name}`)].join(', ');
}

export function principalOfUser({ id, email, role, environmentRoles = {} }: User): Principal {
  const environments = Object.fromEntries(Object.entries(environmentRoles).map(([name, of]) => [name, ACCESS_OF[of]]));
  return { kind: 'user', id, name: email, access: ACCESS_OF[role], environments };
}
