/** Who asks, and what they may do. */

/** To look, to change things, or to decide who may. Each includes the one before. */
export const ACCESS = ['read', 'write', 'admin'] as const;
export type Access = (typeof ACCESS)[number];

export function covers(has: Access, needed: Access): boolean {
  return ACCESS.indexOf(has) >= ACCESS.indexOf(needed);
}

/** Whoever a request comes from, once that is known. */
export interface Principal {
  kind: 'user' | 'api-key' | 'setting' | 'dev';
  id: string;
  /** For people to read: an email address, a key's name. */
  name: string;
  access: Access;
  /** The one environment that the caller is held to; none: all. */
  environment?: string;
}

/** The holder of the key that the setting API_KEY gives. */
export const SETTING_PRINCIPAL: Principal = {
  kind: 'setting',
  id: 'API_KEY',
  name: 'the setting API_KEY',
  access: 'admin',
};

/** In dev mode everybody is this. */
export const DEV_PRINCIPAL: Principal = { kind: 'dev', id: 'dev', name: 'dev mode', access: 'admin' };
