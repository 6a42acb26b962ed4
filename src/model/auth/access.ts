/** Principals and their access: one rule for users, API keys and apps. */
import { BRANCH_SET, type Owner } from '../environment.ts';

/** Each level includes the previous one; admin also manages access. */
export const ACCESS = ['read', 'write', 'admin'] as const;
export type Access = (typeof ACCESS)[number];
export type AccessLevel = Access | 'none';

export function covers(has: AccessLevel, needed: Access): boolean {
  return rankOf(has) >= rankOf(needed);
}

function rankOf(level: AccessLevel): number {
  return (ACCESS as readonly string[]).indexOf(level);
}

/** The access of a principal. */
export interface Grants {
  /** Access to the installation, and to the environments that have no access of their own. */
  access: AccessLevel;
  /** Access by the name of an environment; "branches": all branch environments that are not named. */
  environments?: Readonly<Record<string, AccessLevel>>;
}

/** Access to what an environment owns; without an owner: to the installation. */
export function accessTo(grants: Grants, owner?: Owner): AccessLevel {
  const { access, environments = {} } = grants;
  if (!owner) return access;
  if (owner === 'unknown') return accessToAll(grants);
  const { name, kind } = owner;
  if (Object.hasOwn(environments, name)) return environments[name] as AccessLevel;
  if (kind === 'branch' && Object.hasOwn(environments, BRANCH_SET)) return environments[BRANCH_SET] as AccessLevel;
  return access;
}

/** Access to data that shows all environments together. */
export function accessToAll(grants: Grants): AccessLevel {
  return levelsOf(grants).reduce((lowest, level) => (rankOf(level) < rankOf(lowest) ? level : lowest));
}

export function accessAnywhere(grants: Grants): AccessLevel {
  return levelsOf(grants).reduce((highest, level) => (rankOf(level) > rankOf(highest) ? level : highest));
}

/** The environment of requests that select none; undefined unless the principal can access just one. */
export function onlyEnvironment({ access, environments = {} }: Grants): string | undefined {
  const names = Object.keys(environments).filter((name) => environments[name] !== 'none');
  return access === 'none' && names.length === 1 && names[0] !== BRANCH_SET ? names[0] : undefined;
}

function levelsOf({ access, environments = {} }: Grants): AccessLevel[] {
  return [access, ...Object.values(environments)];
}

export const PRINCIPAL_KINDS = ['user', 'api-key', 'signing-key', 'setting', 'dev'] as const;
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

/** The authenticated sender of a request. */
export interface Principal extends Grants {
  kind: PrincipalKind;
  id: string;
  /** Display name: an email address or the name of a key. */
  name: string;
}

/** The grants of a credential that is bound to one environment. */
export function onlyIn(environment: string, access: Access): Grants {
  return { access: 'none', environments: { [environment]: access } };
}

/** Unique name of a principal, for counters kept per principal. */
export function nameOfPrincipal({ kind, id }: Pick<Principal, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/** The principal of requests that authenticate with the setting API_KEY. */
export const SETTING_PRINCIPAL: Principal = {
  kind: 'setting',
  id: 'API_KEY',
  name: 'the setting API_KEY',
  access: 'admin',
};

export const DEV_PRINCIPAL: Principal = { kind: 'dev', id: 'dev', name: 'dev mode', access: 'admin' };

/** The principal of requests signed with an environment's signing key. Only routes for apps accept it. */
export function principalOfApp(environment: string): Principal {
  return {
    kind: 'signing-key',
    id: environment,
    name: `an app with the signing key of ${environment}`,
    ...onlyIn(environment, 'write'),
  };
}
