/** Access rules: every kind of credential against every route. The table of routes includes new ones by itself. */
import { createHash } from 'node:crypto';
import { appRoutes } from '@bull-board/api/dist/routes.js';
import { expect } from 'chai';
import { SCOPES, type Scope } from '../../src/api/auth/guard.ts';
import { BOARD_ACCESS } from '../../src/api/operations/board-access.ts';
import { ownerInBody } from '../../src/api/rest/owners.ts';
import { ACCESS, type Access, type AccessLevel, covers } from '../../src/model/auth/access.ts';
import type { EnvironmentRoles, Role } from '../../src/model/auth/user.ts';
import { addUser, type Headers, keyHeaders, sessionHeaders } from '../support/auth.ts';
import { officialRoutes, routes } from '../support/route-table.ts';
import { type Service, startService } from '../support/service.ts';

interface GuardedRoute {
  method: string;
  path: string;
  access: Access;
  scope: Scope;
  /** The new object belongs to production unless the body says otherwise. */
  createsInProduction?: boolean;
  hasBody: boolean;
  forApps?: true | undefined;
}

const table: GuardedRoute[] = [...routes, ...officialRoutes].map(({ method, path, access, scope, ...route }) => ({
  method: method.toUpperCase(),
  path,
  access,
  scope,
  createsInProduction: route.owner === ownerInBody,
  hasBody: route.body !== undefined,
  forApps: route.forApps,
}));

/** Bull Board shows the jobs of all environments. */
const board = { scope: 'all-environments', hasBody: false } as const;
/** Every unsafe route of Bull Board in the installed version. */
function boardRoutes(): GuardedRoute[] {
  return appRoutes.api.flatMap(({ method, route }) =>
    [method].flat().flatMap((verb) => {
      const name = `${verb.toUpperCase()} ${route}`;
      const path = `/queues${route}`;
      // A forbidden route responds with 404 to principals with write access.
      const access = BOARD_ACCESS[name] ?? 'write';
      return verb === 'get' ? [] : [{ ...board, method: verb.toUpperCase(), path, access }];
    }),
  );
}

/** The other routes behind the guard. */
const others: GuardedRoute[] = [
  { ...board, method: 'GET', path: '/queues', access: 'read' },
  { ...board, method: 'GET', path: '/queues/api/queues', access: 'read' },
  { ...board, method: 'PUT', path: '/queues/api/queues/nope/pause', access: 'write' },
  ...boardRoutes(),
  { ...board, method: 'GET', path: '/v1/nope', access: 'read' },
  { scope: 'environment', hasBody: false, method: 'GET', path: '/v1/stream', access: 'read' },
];
/** The documentation of the API, for every principal. */
const described = ['/', '/docs', '/openapi.json'];

/** The access to the installation and to each kind of environment, written out. */
interface Levels {
  base: AccessLevel;
  production: AccessLevel;
  staging: AccessLevel;
  branches: AccessLevel;
}

interface Holder {
  who: string;
  /** undefined: the credential is unknown. */
  levels: Levels | undefined;
  /** Its key is that of production: with another environment it is unknown. */
  isApp?: true;
  headers: () => Headers;
}

/** Users with roles by environment. */
const WITH_ROLES: Record<string, { role: Role; roles: EnvironmentRoles; levels: Levels }> = {
  'member of staging': {
    role: 'none',
    roles: { staging: 'member' },
    levels: { base: 'none', production: 'none', staging: 'write', branches: 'none' },
  },
  'member without production': {
    role: 'member',
    roles: { production: 'none', branches: 'read-only' },
    levels: { base: 'write', production: 'none', staging: 'write', branches: 'read' },
  },
  'reader, admin of staging': {
    role: 'read-only',
    roles: { staging: 'admin' },
    levels: { base: 'read', production: 'read', staging: 'admin', branches: 'read' },
  },
  'admin, reader of production': {
    role: 'admin',
    roles: { production: 'read-only' },
    levels: { base: 'admin', production: 'read', staging: 'admin', branches: 'admin' },
  },
  'member of branches': {
    role: 'none',
    roles: { branches: 'member' },
    levels: { base: 'none', production: 'none', staging: 'none', branches: 'write' },
  },
};
const SELECTED = { production: 'production', staging: 'staging', 'feature/x': 'branches' } as const;

/** Behind the signing key of the environment. */
const APP_ROUTES = [
  ['POST', '/fn/register'],
  ['GET', '/v0/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/batch'],
  ['GET', '/v0/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/actions'],
  ['POST', '/v0/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/logs'],
  ['POST', '/v0/connect/start'],
  ['POST', '/v0/connect/flush'],
  ['POST', '/v1/checkpoint'],
  ['POST', '/v1/checkpoint/01ARZ3NDEKTSV4RRFFQ69G5FAV/steps'],
  ['POST', '/v1/checkpoint/01ARZ3NDEKTSV4RRFFQ69G5FAV/response'],
  ['POST', '/v1/http/runs'],
  ['POST', '/v1/http/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/steps'],
  ['POST', '/v1/http/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/response'],
] as const;

const REJECTIONS = ['credentials_invalid', 'access_denied', 'origin_untrusted'];

describe('Access to routes', () => {
  let service: Service;
  const made: Record<string, Headers> = {};
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    for (const [name, kind] of Object.entries({ staging: 'named', 'feature/x': 'branch' })) {
      expect((await service.post('/v1/environments', { name, kind }, service.apiHeaders)).status).to.equal(201);
    }
    for (const access of ACCESS) made[`${access} key`] = await keyHeaders(service, access);
    made['staging key'] = await keyHeaders(service, 'admin', 'staging');
    for (const role of ['admin', 'member', 'read-only'] as const) {
      await addUser(service, `${role}@example.com`, role);
      made[role] = await sessionHeaders(service, `${role}@example.com`);
    }
    for (const [at, [who, { role, roles }]] of Object.entries(WITH_ROLES).entries()) {
      await addUser(service, `user-${at}@example.com`, role, roles);
      made[who] = await sessionHeaders(service, `user-${at}@example.com`);
    }
    made['signing key'] = service.appHeaders;
    made['event key'] = { authorization: `Bearer ${service.env.EVENT_KEYS}` };
    made['hash of a key'] = { authorization: `Bearer ${await digestOfSomeKey()}` };
  });
  after(() => service.stop());

  async function digestOfSomeKey(): Promise<string> {
    const [digest] = await service.redis.hkeys(`${service.prefix}:api-keys`);
    return digest ?? createHash('sha256').digest('hex');
  }

  const everywhere = (level: Access): Levels => ({ base: level, production: level, staging: level, branches: level });
  const nowhere: Levels = { base: 'none', production: 'none', staging: 'none', branches: 'none' };
  const holder = (who: string, levels?: Levels): Holder => ({ who, levels, headers: () => made[who] ?? {} });
  const holders: Holder[] = [
    holder('nobody'),
    holder('event key'),
    { ...holder('signing key', { ...nowhere, production: 'write' }), isApp: true },
    holder('hash of a key'),
    holder('read key', everywhere('read')),
    holder('write key', everywhere('write')),
    holder('admin key', everywhere('admin')),
    holder('staging key', { ...nowhere, staging: 'admin' }),
    holder('read-only', everywhere('read')),
    holder('member', everywhere('write')),
    holder('admin', everywhere('admin')),
    ...Object.entries(WITH_ROLES).map(([who, { levels }]) => holder(who, levels)),
  ];

  const ask = ({ method, path, hasBody }: GuardedRoute, headers: Headers) =>
    service.request(method, path.replace(/:\w+/g, 'nope'), hasBody ? {} : undefined, headers);

  /** The error that the guard must return; undefined: it must allow the request. */
  function rejection(
    route: GuardedRoute,
    { levels, isApp }: Holder,
    selected: keyof typeof SELECTED,
  ): string | undefined {
    if (levels === undefined || (isApp && selected !== 'production')) return 'credentials_invalid';
    if (isApp && !route.forApps) return 'access_denied';
    return needed(route, levels, selected).every((level) => covers(level, route.access)) ? undefined : 'access_denied';
  }

  /** Where the route needs its access. The objects that the table asks for do not exist, so no owner is known. */
  function needed(
    { scope, createsInProduction }: GuardedRoute,
    levels: Levels,
    selected: keyof typeof SELECTED,
  ): AccessLevel[] {
    const all = Object.values(levels);
    if (scope === 'environment') return [levels[SELECTED[selected]]];
    if (scope === 'installation') return [levels.base];
    if (scope === 'all-environments') return all;
    const highest = (['admin', 'write', 'read'] as const).find((level) => all.includes(level)) ?? 'none';
    return [highest, ...(createsInProduction ? [levels.production] : [])];
  }

  /** Production too, for signing keys, is the only one where all environments are the same. */
  function selections({ scope }: GuardedRoute, { levels, isApp }: Holder): (keyof typeof SELECTED)[] {
    const differ = isApp || (scope === 'environment' && new Set(Object.values(levels ?? nowhere)).size > 1);
    return differ ? (Object.keys(SELECTED) as (keyof typeof SELECTED)[]) : ['production'];
  }

  it('every route declares its access and scope', () => {
    expect(table.length).to.be.greaterThan(10);
    for (const { path, access, scope } of table) {
      expect(ACCESS, path).to.include(access);
      expect(SCOPES, path).to.include(scope);
    }
  });

  it('every route with an unsafe method requires more than read access', () => {
    for (const { method, path, access } of table) {
      if (method !== 'GET') expect(['write', 'admin'], `${method} ${path}`).to.include(access);
    }
  });

  for (const route of [...table, ...others]) {
    it(`${route.method} ${route.path}: ${route.access} access to the ${route.scope}`, async () => {
      for (const one of holders) {
        for (const selected of selections(route, one)) {
          const { status, body } = await ask(route, { ...one.headers(), 'x-service-env': selected });
          const expected = rejection(route, one, selected);
          const what = `${one.who}, ${selected}: ${status} ${JSON.stringify(body).slice(0, 200)}`;
          const got = REJECTIONS.includes(body?.code) ? body.code : undefined;
          expect(got, what).to.equal(expected);
          expect(status, what).to.be.lessThan(500);
          if (expected) expect(status, what).to.equal(expected === 'access_denied' ? 403 : 401);
        }
      }
    });
  }

  for (const path of described) {
    it(`GET ${path}: every principal`, async () => {
      for (const { who, levels, headers } of holders) {
        expect((await service.get(path, headers())).status, who).to.equal(levels === undefined ? 401 : 200);
      }
    });
  }

  it('POST /e/:key rejects API keys, sessions and signing keys', async () => {
    for (const { who, headers } of holders) {
      const secret = headers().authorization?.replace('Bearer ', '') ?? 'none';
      if (who === 'event key') continue;
      const response = await service.post(`/e/${encodeURIComponent(secret)}`, { name: 'x', data: {} }, headers());
      expect([response.status, response.body.code], who).to.deep.equal([401, 'key_unknown']);
    }
  });

  it('routes for apps reject API keys, event keys and sessions', async () => {
    for (const { who, headers } of holders) {
      if (who === 'signing key') continue;
      for (const [method, path] of APP_ROUTES) {
        const { status, body } = await service.request(method, path, method === 'POST' ? {} : undefined, headers());
        expect([status, body.code], `${who}: ${path}`).to.deep.equal([401, 'credentials_invalid']);
      }
    }
  });
});
