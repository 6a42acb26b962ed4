/** Users whose role differs by environment (docs/security.md#roles-by-environment), and what they try in environments that they may not see.
 *  access.test.ts asks every route. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { addUser, type Headers, keyHeaders, sessionHeaders } from '../support/auth.ts';
import { type Service, startService } from '../support/service.ts';
import { follow } from '../support/stream.ts';
import { until } from '../support/until.ts';

const TRANSFORM = 'const transform = (evt) => ({ name: "hooked", data: {}, ...evt })';
const OWNERS = ['production', 'staging', 'branches'] as const;
type Owner = (typeof OWNERS)[number];

interface Owned {
  webhook: string;
  path: string;
  eventKey: string;
}

describe('Roles by environment', () => {
  let service: Service;
  const owned = {} as Record<Owner, Owned>;
  /** May see staging alone, and change things there. */
  let guest: { id: string; headers: Headers };
  let event: string;
  before(async () => {
    service = await startService({ dev: false });
    await admin('POST', '/v1/environments', { name: 'staging' });
    await admin('POST', '/v1/environments', { name: 'feature/x', kind: 'branch' });
    for (const owner of OWNERS) {
      const { data: webhook } = await admin('POST', '/v1/webhooks', {
        name: owner,
        environment: owner,
        transform: TRANSFORM,
      });
      const { data: key } = await admin('POST', '/v1/event-keys', { name: owner, environment: owner });
      owned[owner] = { webhook: webhook.id, path: new URL(webhook.url).pathname, eventKey: key.id };
    }
    const id = await addUser(service, 'guest@example.com', 'none', { staging: 'member' });
    guest = { id, headers: await sessionHeaders(service, 'guest@example.com') };
    event = (await service.post(service.eventPath, { name: 'secret/one', data: { order: 'A7' } })).body.ids[0];
    await service.waitFor(`/v1/events/${event}`, ({ status }) => status === 200);
  });
  after(() => service.stop());

  const admin = async (method: string, path: string, body?: object, headers = {}) =>
    (await service.request(method, path, body, { ...service.apiHeaders, ...headers })).body;
  const ask = (method: string, path: string, body?: object, headers: Headers = {}) =>
    service.request(method, path, body, { ...guest.headers, ...headers });
  const codeOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).body?.code;
  const namesIn = async (path: string) => (await ask('GET', path)).body.data.map(({ name }: { name: string }) => name);
  const setRoles = (roles: object) => admin('PATCH', `/v1/users/${guest.id}`, roles);

  /** Sends a request that selects another environment than the webhook's, so that its event is held. */
  async function hold({ path }: Owned): Promise<string> {
    const response = await service.post(path, { name: 'held/one' }, { 'x-service-env': 'nowhere' });
    return response.body.ids[0];
  }

  it('lists have what belongs to visible environments', async () => {
    expect(await namesIn('/v1/environments')).to.deep.equal(['staging']);
    expect(await namesIn('/v1/webhooks')).to.deep.equal(['staging']);
    expect(await namesIn('/v1/event-keys')).to.deep.equal(['staging']);
    const { body } = await ask('GET', '/v1/webhooks/stats');
    expect(body.data.map(({ webhook_id }: { webhook_id: string }) => webhook_id)).to.deep.equal([
      owned.staging.webhook,
    ]);
  });

  it('an object of a hidden environment looks like one that does not exist', async () => {
    for (const owner of ['production', 'branches'] as const) {
      const { webhook, eventKey } = owned[owner];
      for (const [path, id] of [
        ['/v1/webhooks/:id', webhook],
        ['/v1/webhooks/:id/requests', webhook],
        ['/v1/webhooks/:id/replays', webhook],
        ['/v1/webhook-issues?webhook_id=:id', webhook],
        ['/v1/event-keys/:id', eventKey],
      ] as const) {
        const hidden = await ask('GET', path.replace(':id', id));
        const missing = await ask('GET', path.replace(':id', event));
        expect([hidden.status, hidden.body.code], path).to.deep.equal([404, 'not_found']);
        expect(hidden.body.error.replaceAll(id, event), path).to.equal(missing.body.error);
      }
      expect(await codeOf('DELETE', `/v1/webhooks/${webhook}`)).to.equal('not_found');
      expect(await codeOf('POST', `/v1/webhooks/${webhook}/rotate`, {})).to.equal('not_found');
    }
    expect(await codeOf('GET', '/v1/environments/production')).to.equal('environment_unknown');
    expect((await ask('GET', `/v1/webhooks/${owned.staging.webhook}`)).body.data.url).to.be.a('string');
  });

  it('another environment is denied however it is selected', async () => {
    for (const path of ['/v1/events', `/v1/events/${event}`, '/v1/runs', '/v1/search?text=A7', '/v1/stream']) {
      const joined = path.includes('?') ? '&' : '?';
      expect(await codeOf('GET', path, undefined, { 'x-service-env': 'production' }), path).to.equal('access_denied');
      expect(await codeOf('GET', path, undefined, { 'x-inngest-env': 'production' }), path).to.equal('access_denied');
      expect(await codeOf('GET', `${path}${joined}x-service-env=production`), path).to.equal('access_denied');
      expect(await codeOf('GET', path, undefined, { 'x-service-env': 'nowhere' }), path).to.equal('access_denied');
    }
  });

  it('without a selection, the only visible environment is meant', async () => {
    expect((await ask('GET', '/v1/events')).body.data).to.deep.equal([]);
    expect((await ask('GET', '/v1/search?text=A7')).body.data).to.deep.equal([]);
    expect(await codeOf('GET', `/v1/events/${event}`)).to.equal('not_found');
    expect((await ask('POST', '/v1/events', { name: 'own/one', data: {} })).status).to.be.lessThan(300);
  });

  it('another environment is denied in a body', async () => {
    const webhook = (environment?: string) => ({ name: 'mine', ...(environment && { environment }) });
    for (const environment of [undefined, 'production', 'branches']) {
      expect(await codeOf('POST', '/v1/webhooks', webhook(environment)), environment).to.equal('access_denied');
    }
    const made = await ask('POST', '/v1/webhooks', webhook('staging'));
    expect(made.status).to.equal(201);
    expect((await ask('DELETE', `/v1/webhooks/${made.body.data.id}`)).status).to.equal(204);
    const held = await hold(owned.staging);
    for (const [path, body] of [
      [`/v1/holding/${held}/assign`, {}],
      ['/v1/holding/assign', { ids: [held] }],
    ] as const) {
      expect(await codeOf('POST', path, { ...body, environment: 'production' })).to.equal('access_denied');
    }
    expect((await ask('POST', `/v1/holding/${held}/assign`, { environment: 'staging' })).status).to.equal(200);
  });

  it('bulk operations leave out what belongs to hidden environments', async () => {
    const [own, foreign] = await Promise.all([hold(owned.staging), hold(owned.branches)]);
    const { body } = await ask('GET', '/v1/holding');
    expect(body.data.map(({ internal_id }: { internal_id: string }) => internal_id)).to.deep.equal([own]);
    expect(await codeOf('GET', `/v1/holding/${foreign}`)).to.equal('not_found');
    expect(await codeOf('DELETE', `/v1/holding/${foreign}`)).to.equal('not_found');
    const assigned = await ask('POST', '/v1/holding/assign', { environment: 'staging', ids: [foreign] });
    expect(assigned.body.data.assigned).to.deep.equal([]);
    expect((await ask('POST', '/v1/holding/discard', { ids: [foreign] })).body.data.deleted).to.equal(0);
    expect((await ask('DELETE', '/v1/holding?all=true')).body.data.deleted).to.equal(1);
    expect((await admin('GET', `/v1/holding/${foreign}`)).data.internal_id).to.equal(foreign);
  });

  it('held events of a deleted webhook need access to all environments', async () => {
    const { data: webhook } = await admin('POST', '/v1/webhooks', {
      name: 'gone',
      environment: 'staging',
      transform: TRANSFORM,
    });
    const held = await hold({ ...owned.staging, path: new URL(webhook.url).pathname });
    expect((await ask('GET', `/v1/holding/${held}`)).status).to.equal(200);
    await admin('DELETE', `/v1/webhooks/${webhook.id}`);
    expect(await codeOf('GET', `/v1/holding/${held}`)).to.equal('not_found');
    expect((await admin('GET', `/v1/holding/${held}`)).data.internal_id).to.equal(held);
  });

  it('assistants get the tools and the data of the selected environment', async () => {
    const connect = async (headers: Headers = {}) => {
      const client = new Client({ name: 'test', version: '1' });
      const requestInit = { headers: { ...guest.headers, ...headers } };
      await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.url), { requestInit }));
      return client;
    };
    const [own, production] = [await connect(), await connect({ 'x-service-env': 'production' })];
    const call = async (client: Client, name: string, given: Record<string, unknown>) =>
      JSON.stringify(await client.callTool({ name, arguments: given }));
    expect(await call(own, 'get_event', { id: event })).to.include('not_found');
    expect(await call(production, 'get_event', { id: event })).to.include('access_denied');
    expect(await call(own, 'get_webhook', { id: owned.production.webhook })).to.include('not_found');
    expect(await call(own, 'list_webhooks', {})).to.include(owned.staging.webhook);
    expect(await call(own, 'list_webhooks', {})).to.not.include(owned.production.webhook);
    const toolsOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
    expect(await toolsOf(own)).to.include.members(['send_event', 'pause_webhook']);
    expect(await toolsOf(own)).to.not.include.members(['list_audit_entries', 'list_health_checks']);
    expect(await toolsOf(production)).to.not.include('send_event');
    for (const client of [own, production]) await client.close();
  });

  it('the live stream of an environment has nothing of webhooks that may be hidden', async () => {
    const stream = await follow(`${service.url}/v1/stream`, guest.headers);
    const all = await follow(`${service.url}/v1/stream`, service.apiHeaders);
    await hold(owned.production);
    await all.next('held-events');
    await ask('POST', '/v1/events', { name: 'seen/one', data: {} });
    await stream.next('events');
    const kinds = new Set(stream.messages.map((message) => message.event));
    expect([...kinds]).to.not.include.members(['held-events', 'webhook-requests']);
    for (const one of [stream, all]) one.close();
  });

  it('a change of roles ends an open stream, and applies to the next request', async () => {
    const stream = await follow(`${service.url}/v1/stream`, { ...guest.headers, 'x-service-env': 'staging' });
    await setRoles({ environment_roles: { staging: 'none' }, role: 'read-only' });
    expect(await codeOf('GET', '/v1/events?x-service-env=staging')).to.equal('access_denied');
    expect((await ask('GET', '/v1/events?x-service-env=production')).status).to.equal(200);
    expect(await codeOf('GET', '/queues', undefined, { accept: 'application/json' })).to.equal('access_denied');
    await until(() => stream.ended(), { describe: 'the stream ends' });
    await setRoles({ environment_roles: { staging: 'member' }, role: 'none' });
    expect((await ask('GET', '/v1/events?x-service-env=staging')).status).to.equal(200);
  });

  it('a stored response is not repeated to a user who lost the role', async () => {
    const send = () =>
      ask('POST', `/v1/webhooks/${owned.staging.webhook}/rotate`, {}, { 'idempotency-key': 'rotate-1' });
    expect((await send()).status).to.equal(200);
    await setRoles({ environment_roles: { staging: 'read-only' } });
    expect((await send()).body.code).to.equal('access_denied');
    expect((await ask('GET', `/v1/webhooks/${owned.staging.webhook}`)).body.data.url).to.equal(null);
    await setRoles({ environment_roles: { staging: 'member' } });
    expect((await send()).headers.get('idempotent-replayed')).to.equal('true');
  });

  it('an API key of an environment follows the same rule', async () => {
    const key = await keyHeaders(service, 'write', 'staging');
    const { body } = await service.get('/v1/webhooks', key);
    expect(body.data.map(({ name }: { name: string }) => name)).to.deep.equal(['staging']);
    expect((await service.get(`/v1/webhooks/${owned.production.webhook}`, key)).status).to.equal(404);
  });

  it('an admin of an environment is no admin of the installation, and the last admin stays', async () => {
    const only = await addUser(service, 'only-admin@example.com', 'admin');
    await setRoles({ environment_roles: { staging: 'admin' } });
    expect(await codeOf('GET', '/v1/users')).to.equal('access_denied');
    expect(await codeOf('PATCH', `/v1/users/${guest.id}`, { role: 'admin' })).to.equal('access_denied');
    expect(await codeOf('POST', '/v1/environments', { name: 'more' })).to.equal('access_denied');
    expect((await ask('GET', '/v1/environments/staging/signing-key')).status).to.equal(200);
    expect((await admin('PATCH', `/v1/users/${only}`, { role: 'none' })).code).to.equal('last_admin');
    const kept = await admin('PATCH', `/v1/users/${only}`, { environment_roles: { production: 'read-only' } });
    expect([kept.data.role, kept.data.environment_roles]).to.deep.equal(['admin', { production: 'read-only' }]);
    await setRoles({ environment_roles: { staging: 'member' } });
  });

  it('roles are checked, are in the audit log, and the account shows them', async () => {
    expect((await setRoles({ environment_roles: { nowhere: 'member' } })).code).to.equal('environment_unknown');
    expect((await setRoles({ environment_roles: { staging: 'owner' } })).code).to.equal('input_invalid');
    const entries = (await admin('GET', '/v1/audit')).data;
    const { summary } = entries.find(({ target }: { target: string }) => target === guest.id);
    expect(summary).to.include('environment_roles (staging member)');
    const { body: account } = await ask('GET', '/auth/account');
    expect(account.data).to.deep.include({ role: 'none', environment_roles: { staging: 'member' } });
    const { body: me } = await ask('GET', '/auth/me');
    expect(me.data).to.deep.include({ access: 'write', installation_access: 'none', environment: 'staging' });
    const { body: elsewhere } = await ask('GET', '/auth/me', undefined, { 'x-service-env': 'production' });
    expect(elsewhere.data.access).to.equal('none');
  });

  it('what waits is counted in the environment of its webhook, or in every branch, and for nobody who may not see it', async () => {
    await service.post('/v1/environments', { name: 'feature/counted', kind: 'branch' }, service.apiHeaders);
    const counts = async (env: string, headers: Headers) => {
      const selected = { ...headers, 'x-service-env': env };
      const [status, overview] = await Promise.all(
        ['/v1/status', '/v1/overview'].map((path) => service.get(path, selected)),
      );
      if (status?.status !== 200) return status?.body.code;
      const { held_events, open_webhook_issues } = status.body.data;
      expect(overview?.body.data.open_webhook_issues).to.equal(open_webhook_issues);
      return [held_events, open_webhook_issues];
    };
    const ofAdmin = (env: string) => counts(env, service.apiHeaders);
    const envs = ['production', 'staging', 'feature/counted'];
    const before = await Promise.all(envs.map(ofAdmin));
    const ids: string[] = [];
    for (const owner of OWNERS) {
      const { data: webhook } = await admin('POST', '/v1/webhooks', {
        name: `counted in ${owner}`,
        environment: owner,
        transform: 'const transform = (evt) => { if (evt.bad) throw new Error("no"); return { name: "x", data: {} }; }',
      });
      const { pathname } = new URL(webhook.url);
      await service.post(pathname, { bad: true }, owner === 'branches' ? { 'x-service-env': 'feature/counted' } : {});
      for (const _ of OWNERS.slice(0, 1 + OWNERS.indexOf(owner))) ids.push(await hold({ path: pathname } as Owned));
      await service.waitFor(`/v1/webhooks/${webhook.id}/issues`, ({ body }) => body.data?.length === 1);
    }
    const after = await Promise.all(envs.map(ofAdmin));
    const added = after.map(([held, issues], i) => [held - before[i][0], issues - before[i][1]]);
    expect(added).to.deep.equal([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    expect(await counts('staging', guest.headers)).to.deep.equal(after[1]);
    expect(await counts('production', guest.headers)).to.equal('access_denied');
    await setRoles({ environment_roles: { staging: 'member', 'feature/counted': 'read-only' } });
    expect(await counts('feature/counted', guest.headers)).to.deep.equal([0, 0]);
    await setRoles({ environment_roles: { staging: 'member' } });
    await admin('POST', '/v1/holding/discard', { ids: ids.slice(0, 2) });
    await admin('DELETE', `/v1/holding/${ids[2]}`);
    const left = await Promise.all(envs.map(ofAdmin));
    expect(left.map(([held]) => held)).to.deep.equal([before[0][0], before[1][0], after[2][0]]);
  });
});
