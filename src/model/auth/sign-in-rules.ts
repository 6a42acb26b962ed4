/** What the claims of a provider's user give: a role, and the domain of an organization. */
import type { RoleRule } from '../../settings/oidc.ts';
import { ROLES, type Role } from './user.ts';

const GOOGLE = 'https://accounts.google.com';
/** Matches every user. */
const EVERYBODY = '*';

/** The highest role of the rules that match; undefined if none does. */
export function roleOf(rules: readonly RoleRule[], groups: readonly string[]): Role | undefined {
  const given = rules.filter(({ group }) => group === EVERYBODY || groups.includes(group)).map(({ role }) => role);
  return ROLES.find((role) => given.includes(role));
}

/** Anybody can have a Google account with an address of a company; only the company's own accounts have its domain as `hd`.
 *  @returns empty if the address belongs to no organization for sure */
export function domainOf({ iss, hd }: { iss: string; hd?: unknown }, email: string): string {
  const domain = email.split('@').at(-1) as string;
  if (iss !== GOOGLE || domain === 'gmail.com') return domain;
  return typeof hd === 'string' ? hd.toLowerCase() : '';
}
