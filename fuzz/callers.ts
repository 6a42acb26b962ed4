/** Callers with roles in single environments, as plain data, and the environments that they are about. */
import fc from 'fast-check';
import { ACCESS, type Access, type Grants } from '../src/model/auth/access.ts';
import { principalOfKey } from '../src/model/auth/api-key.ts';
import { type EnvironmentRoles, principalOfUser, ROLES, type Role } from '../src/model/auth/user.ts';
import { BRANCH_SET, type EnvironmentRef, PRODUCTION } from '../src/model/environment.ts';

export type Caller =
  | { kind: 'user'; role: Role; roles: EnvironmentRoles }
  | { kind: 'key'; access: Access; environment?: string };

export const ENVIRONMENTS = [
  { name: PRODUCTION, kind: 'production' },
  { name: 'roles-named', kind: 'named' },
  { name: 'roles-branch', kind: 'branch' },
] as const satisfies EnvironmentRef[];

/** What owns webhooks and event keys, or has events. */
export const OWNERS: readonly EnvironmentRef[] = [...ENVIRONMENTS, { name: BRANCH_SET, kind: 'branch' }];
export const OWNERS_OF_KEYS = [PRODUCTION, 'roles-named', BRANCH_SET] as const;

const roles = fc.constantFrom(...ROLES);

/** There are about 2,500. */
export const caller: fc.Arbitrary<Caller> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('user' as const),
      role: roles,
      roles: fc.dictionary(fc.constantFrom(...OWNERS.map(({ name }) => name)), roles, { noNullPrototype: true }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        kind: fc.constant('key' as const),
        access: fc.constantFrom(...ACCESS),
        environment: fc.constantFrom(PRODUCTION, 'roles-named'),
      },
      { requiredKeys: ['kind', 'access'] },
    ),
  },
);

/** What the rule is given. */
export function grantsOf(one: Caller): Grants {
  const nobody = {
    id: '',
    name: '',
    email: '',
    version: '',
    digest: '',
    hint: '',
    createdAt: 0,
    updatedAt: 0,
    createdBy: '',
  };
  return one.kind === 'user'
    ? principalOfUser({ ...nobody, role: one.role, environmentRoles: one.roles })
    : principalOfKey({ ...nobody, ...one });
}

/** Part of the name of its placeholder (case.ts). */
export function nameOfCaller(one: Caller): string {
  if (one.kind === 'key') return ['key', one.access, ...(one.environment ? [one.environment] : [])].join(':');
  const own = Object.entries(one.roles).sort(([a], [b]) => (a < b ? -1 : 1));
  return ['user', one.role, ...own.map(([name, role]) => `${name}-${role}`)].join(':');
}

export function credentialsOf(one: Caller): [name: string, value: string][] {
  const secret = `{{${nameOfCaller(one)}}}`;
  if (one.kind === 'key') return [['authorization', `Bearer ${secret}`]];
  return [
    ['cookie', secret],
    ['origin', 'http://{{host}}'],
  ];
}
