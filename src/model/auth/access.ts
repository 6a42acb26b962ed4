/** Principals and their access. */

/** Each level includes the previous one; admin also manages access. */
export const ACCESS = ['read', 'write', 'admin'] as const;
export type Access = (typeof ACCESS)[number];

export function covers(has: Access, needed: Access): boolean {
  return ACCESS.indexOf(has) >= ACCESS.indexOf(needed);
}

export const PRINCIPAL_KINDS = ['user', 'api-key', 'signing-key', 'setting', 'dev'] as const;
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

/** The authenticated sender of a request. */
export interface Principal {
  kind: PrincipalKind;
  id: string;
  /** Display name: an email address or the name of a key. */
  name: string;
  access: Access;
  /** The only environment that the principal can access; absent: all. */
  environment?: string;
}

/** Unique name of a principal, for counters kept per principal. */
export function nameOfPrincipal({ kind, id }: Principal): string {
  return `${kind}:${id}`;
}

/** The principal of requests that authenticate with the setting API_KEY. */
export const SETTING_PRINCIPAL: Principal = {
  kind: 'setting',
  id: 'API_KEY',
  name: 'the setting API_KEY',
  access: 'admin',
};

/** The principal of all requests in dev mode. */
export const DEV_PRINCIPAL: Principal = { kind: 'dev', id: 'dev', name: 'dev mode', access: 'admin' };

/** The principal of requests signed with an environment's signing key. Only routes for apps accept it. */
export function principalOfApp(environment: string): Principal {
  return {
    kind: 'signing-key',
    id: environment,
    name: `an app with the signing key of ${environment}`,
    access: 'write',
    environment,
  };
}
