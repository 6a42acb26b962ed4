/** Access rules: every kind of credential against every route. The table of routes includes new ones by itself. */
import { createHash } from 'node:crypto';
import { appRoutes } from '@bull-board/api/dist/routes.js';
import { expect } from 'chai';
import { BOARD_ACCESS } from '../../src/api/operations/board-access.ts';
import { ACCESS, type Access, covers } from '../../src/model/auth/access.ts';
import { addUser, type Headers, keyHeaders, sessionHeaders } from '../support/auth.ts';
import { officialRoutes, routes } from '../support/route-table.ts';
import { type Service, startService } from '../support/service.ts';

interface GuardedRoute {
  method: string;
  path: string;
  access: Access;
  scope: 'environment' | 'installation';
  hasBody: boolean;
  forApps?: true | undefined;
}

const table: GuardedRoute[] = [...routes, ...officialRoutes].map(({ method, path, access, scope, body, forApps }) => ({
  method: method.toUpperCase(),
  path,
  access,
  scope,
  hasBody: body !== undefined,
  forApps,
}));

const installation = { scope: 'installation', hasBody: false } as const;
/** Every unsafe route of Bull Board in the installed version. */
function boardRoutes(): GuardedRoute[] {
  return appRoutes.api.flatMap(({ method, route }) =>
    [method].flat().flatMap((verb) => {
      const name = `${verb.toUpperCase()} ${route}`;
      const path = `/queues${route}`;
      // A forbidden route responds with 404 to principals with write access.
      const access = BOARD_ACCESS[name] ?? 'write';
      return verb === 'get' ? [] : [{ ...installation, method: verb.toUpperCase(), path, access }];
    }),
  );
}

/** The other routes behind the guard. */
const others: GuardedRoute[] = [
  { ...installation, method: 'GET', path: '/queues', access: 'read' },
  { ...installation, method: 'GET', path: '/queues/api/queues', access: 'read' },
  { ...installation, method: 'PUT', path: '/queues/api/queues/nope/pause', access: 'write' },
  ...boardRoutes(),
  { ...installation, method: 'GET', path: '/v1/nope', access: 'read' },
  { scope: 'environment', hasBody: false, method: 'GET', path: '/v1/stream', access: 'read' },
];
/** The documentation of the API, for every principal. */
const described = ['/', '/docs', '/openapi.json'];

interface Holder {
  who: string;
  /** undefined: no access. */
  access: Access | undefined;
  /** The environment that the key is restricted to. */
  environment?: string;
  /** Its key is that of production: with another environment it is unknown. */
  isApp?: true;
  headers: () => Headers;
}

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
    const staging = { name: 'staging', kind: 'named', createdAt: Date.now() };
    await service.redis.hset(`${service.prefix}:environments`, staging.name, JSON.stringify(staging));
    for (const access of ACCESS) made[`${access} key`] = await keyHeaders(service, access);
    made['staging key'] = await keyHeaders(service, 'admin', 'staging');
    for (const role of ['admin', 'member', 'read-only'] as const) {
      await addUser(service, `${role}@example.com`, role);
      made[role] = await sessionHeaders(service, `${role}@example.com`);
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

  const holder = (who: string, access?: Access, environment?: string): Holder => ({
    who,
    access,
    ...(environment && { environment }),
    headers: () => made[who] ?? {},
  });
  const holders: Holder[] = [
    holder('nobody'),
    holder('event key'),
    { ...holder('signing key', 'write', 'production'), isApp: true },
    holder('hash of a key'),
    holder('read key', 'read'),
    holder('write key', 'write'),
    holder('admin key', 'admin'),
    holder('staging key', 'admin', 'staging'),
    holder('read-only', 'read'),
    holder('member', 'write'),
    holder('admin', 'admin'),
  ];

  const ask = ({ method, path, hasBody }: GuardedRoute, headers: Headers) =>
    service.request(method, path.replace(/:\w+/g, 'nope'), hasBody ? {} : undefined, headers);

  /** The error that the guard must return; undefined: it must allow the request. */
  function rejection(route: GuardedRoute, holder: Holder, selected: string): string | undefined {
    const { access, environment, isApp } = holder;
    if (access === undefined || (isApp && environment !== selected)) return 'credentials_invalid';
    if (isApp && !route.forApps) return 'access_denied';
    if (!covers(access, route.access)) return 'access_denied';
    const isRestricted = environment !== undefined && (route.scope === 'installation' || environment !== selected);
    return isRestricted ? 'access_denied' : undefined;
  }

  it('every route declares its access and scope', () => {
    expect(table.length).to.be.greaterThan(10);
    for (const { path, access, scope } of table) {
      expect(ACCESS, path).to.include(access);
      expect(['environment', 'installation'], path).to.include(scope);
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
        for (const selected of ['production', 'staging']) {
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
      for (const { who, access, headers } of holders) {
        expect((await service.get(path, headers())).status, who).to.equal(access === undefined ? 401 : 200);
      }
    });
  }

  it('POST /e/:key rejects API keys, sessions and signing keys', async () => {
    for (const { who, headers } of holders) {
      const secret = headers().authorization?.replace('Bearer ', '') ?? 'none';
      if (who === 'event key') continue;
      const answer = await service.post(`/e/${encodeURIComponent(secret)}`, { name: 'x', data: {} }, headers());
      expect([answer.status, answer.body.code], who).to.deep.equal([401, 'key_unknown']);
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
