import { expect } from 'chai';
import { type Caller, credentialsOf } from '../../fuzz/callers.ts';
import { type AskedCase, checkAccess } from '../../fuzz/check-access.ts';
import { markOf } from '../../fuzz/owned-objects.ts';
import type { Response } from '../../fuzz/socket.ts';

const NAMES = {
  'webhook-of:production': '01AAAAAAAAAAAAAAAAAAAAAAAA',
  'webhook-of:roles-named': '01BBBBBBBBBBBBBBBBBBBBBBBB',
};
const GUEST: Caller = { kind: 'user', role: 'none', roles: { 'roles-named': 'read-only' } };
const MEMBER: Caller = { kind: 'user', role: 'member', roles: { production: 'none' } };

describe('Responses to callers with roles, in scripts/fuzz', () => {
  const responseWith = (status: number, body: object | string = {}): Response => ({
    status,
    headers: {},
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ms: 1,
    ended: 'answered',
  });
  const check = async (caller: Caller, request: string, response: Response, absent = response) => {
    const [method = '', target = '', env] = request.split(' ');
    const headers: [string, string][] = [
      ...credentialsOf(caller),
      ...(env ? [['x-service-env', env] as [string, string]] : []),
    ];
    const one: AskedCase = { kind: 'http', area: '', method, target, headers, caller };
    return (await checkAccess(one, response, NAMES, async () => absent))?.text;
  };
  const denied = (env: string) => responseWith(403, { error: `the environment "${env}"` });

  it('are findings: success without the access that the rule demands', async () => {
    expect(await check(GUEST, 'GET /v1/events production', responseWith(200))).to.include('the rule gives none access');
    expect(await check(MEMBER, 'GET /v1/events', responseWith(200))).to.include('the rule gives none access');
    expect(await check(GUEST, 'POST /v1/webhooks/{{webhook-of:roles-named}}/pause', responseWith(200))).to.include(
      'needed write',
    );
    expect(await check(GUEST, 'GET /v1/users', responseWith(200))).to.include('needed admin');
    expect(await check(GUEST, 'GET /v1/events', responseWith(200))).to.equal(undefined);
    expect(await check(GUEST, 'GET /v1/webhooks/{{webhook-of:roles-named}}', responseWith(200))).to.equal(undefined);
    expect(await check(MEMBER, 'GET /v1/events roles-branch', responseWith(200))).to.equal(undefined);
  });

  it('are findings: what belongs to a hidden environment', async () => {
    const list = responseWith(200, { data: [{ name: markOf('production') }] });
    expect(await check(GUEST, 'GET /v1/webhooks', list)).to.include('belongs to the hidden "production"');
    expect(await check({ kind: 'key', access: 'read' }, 'GET /v1/webhooks', list)).to.equal(undefined);
  });

  it('are findings: what tells a hidden object or environment from one that does not exist', async () => {
    const hidden = 'GET /v1/webhooks/{{webhook-of:production}}';
    const missing = (id: string) => responseWith(404, { code: 'not_found', error: `no webhook ${id}`, request_id: id });
    expect(await check(GUEST, hidden, responseWith(403), missing('01ARZ3NDEKTSV4RRFFQ69G5FAV'))).to.include(
      'does not exist',
    );
    expect(
      await check(GUEST, hidden, missing(NAMES['webhook-of:production']), missing('01ARZ3NDEKTSV4RRFFQ69G5FAV')),
    ).to.equal(undefined);
    expect(await check(GUEST, 'GET /v1/runs production', denied('production'), denied('roles-absent'))).to.equal(
      undefined,
    );
    expect(await check(GUEST, 'GET /v1/runs production', responseWith(404), denied('roles-absent'))).to.include(
      'does not exist',
    );
  });
});
