/** Derives roles, and the domain of an organization, from the claims of a provider's user. */
import type { RoleRule } from '../../settings/oidc.ts';
import { type EnvironmentRoles, ROLES, type Role } from './user.ts';

const GOOGLE = 'https://accounts.google.com';
/** Matches every user. */
const EVERYBODY = '*';

export interface GivenRoles {
  role: Role;
  /** Absent: no rule names an environment, so those that an admin gave stay. */
  environmentRoles?: EnvironmentRoles;
}

/** The highest roles of the rules that match, of the installation and of each environment; undefined if they give no access at all. */
export function rolesOf(rules: readonly RoleRule[], groups: readonly string[]): GivenRoles | undefined {
  const matching = rules.filter(({ group }) => group === EVERYBODY || groups.includes(group));
  const highestIn = (environment: string | undefined) =>
    ROLES.find((role) => matching.some((rule) => rule.environment === environment && rule.role === role)) ?? 'none';
  const role = highestIn(undefined);
  const named = new Set(matching.map(({ environment }) => environment).filter((name) => name !== undefined));
  const environmentRoles = Object.fromEntries([...named].map((name) => [name, highestIn(name)]));
  if (role === 'none' && Object.values(environmentRoles).every((environmentRole) => environmentRole === 'none'))
    return undefined;
  return { role, ...(rules.some(({ environment }) => environment !== undefined) && { environmentRoles }) };
}

/** Anybody can have a Google account with an address of a company; only the company's own accounts have its domain as `hd`.
 *  @returns '' unless the address certainly belongs to an organization */
export function domainOf({ iss, hd }: { iss: string; hd?: unknown }, email: string): string {
  const domain = email.split('@').at(-1) as string;
  if (iss !== GOOGLE || domain === 'gmail.com') return domain;
  return typeof hd === 'string' ? hd.toLowerCase() : '';
}
