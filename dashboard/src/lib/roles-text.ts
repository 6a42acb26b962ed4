import { scopeLabel } from './environment-scope.ts';

/** `member, admin in staging` */
export function rolesText(roles: { role: string; environment_roles: Readonly<Record<string, string>> }): string {
  const own = Object.entries(roles.environment_roles).map(([name, role]) => `${role} in ${scopeLabel(name)}`);
  return [roles.role, ...own].join(', ');
}
