import { once } from 'node:events';
import { expect } from 'chai';
import type { WebSocket } from 'ws';
import { FRAME_MAX_BYTES } from '../../src/api/connect/limits.ts';
import { JSON_TEXT } from '../../src/functions/connect/formats.ts';
import { KIND, SystemError, WorkerConnectRequest } from '../../src/functions/connect/messages.ts';
import { hashedKey } from '../../src/functions/signing.ts';
import { ConnectedInstance, startConnection } from '../support/connected-app.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const FUNCTIONS = [{ id: 'ship', triggers: [{ event: 'order/paid' }] }];

async function closing(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = await once(socket, 'close');
  return { code, reason: String(reason) };
}

describe('The gateway in production', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, env: { CONNECTIONS_MAX: '2' } });
  });
  after(() => service.stop());
  // The gateway forgets a connection a moment after its end; until then it counts against CONNECTIONS_MAX.
  afterEach(async () => {
    const key = service.keys.connections('production');
    const counted = () => service.redis.zcount(key, Date.now(), '+inf');
    await until(async () => (await counted()) === 0, { describe: 'the gateway has forgotten all connections' });
  });

  const connect = (options: object = {}) =>
    ConnectedInstance.connect(service.url, { functions: FUNCTIONS, headers: service.appHeaders, ...options });

  /** Resolves when the gateway has renewed the connection, and so checked it. */
  async function renewal(env: string, id: string): Promise<void> {
    const liveUntil = async () => Number(await service.redis.zscore(service.keys.connections(env), id));
    const before = await liveUntil();
    await until(async () => (await liveUntil()) > before, { describe: 'the gateway has renewed the connection' });
  }

  it('lets an app start a connection only with the hashed signing key of its environment', async () => {
    expect((await startConnection(service.url, service.appHeaders)).status).to.equal(200);
    for (const headers of [{}, { authorization: 'Bearer nonsense' }, service.apiHeaders]) {
      const { status, text } = await startConnection(service.url, headers as Record<string, string>);
      expect([status, JSON.parse(text).code]).to.deep.equal([401, 'credentials_invalid']);
    }
  });

  it('accepts flushed replies only with the signing key', async () => {
    const { status } = await request('POST', `${service.url}/v0/connect/flush`, { body: new Uint8Array() });
    expect(status).to.equal(401);
  });

  it('accepts a session token once, and no other', async () => {
    const { start } = await startConnection(service.url, service.appHeaders);
    const first = await ConnectedInstance.open(start.gatewayEndpoint, start.connectionId);
    await first.register(start, { functions: FUNCTIONS });
    for (const sessionToken of [start.sessionToken, 'nonsense', '']) {
      const second = await ConnectedInstance.open(start.gatewayEndpoint, start.connectionId);
      const closed = closing(second.socket);
      await second.register({ ...start, sessionToken }, { functions: FUNCTIONS }).catch(() => undefined);
      const { code, reason } = await closed;
      expect({ code, reason }).to.deep.equal({ code: 4_401, reason: 'connect_authentication_failed' });
    }
    await first.close();
  });

  it('closes a WebSocket that does not authenticate in time, or sends another message first', async () => {
    const idle = await ConnectedInstance.open(`${service.url.replace('http', 'ws')}/v0/connect`);
    const other = await ConnectedInstance.open(`${service.url.replace('http', 'ws')}/v0/connect`);
    const [idleClosed, otherClosed] = [closing(idle.socket), closing(other.socket)];
    other.send(KIND.workerHeartbeat);
    expect((await otherClosed).code).to.equal(4_400);
    expect((await idleClosed).reason).to.equal('connect_worker_hello_timeout');
  });

  it('lets an app in while somebody holds many WebSockets that do not authenticate', async () => {
    const endpoint = `${service.url.replace('http', 'ws')}/v0/connect`;
    const idle = await Promise.all(Array.from({ length: 120 }, () => ConnectedInstance.open(endpoint)));
    await (await connect()).close();
    const isOpen = ({ socket }: ConnectedInstance) => socket.readyState === socket.OPEN;
    await until(() => idle.filter(isOpen).length <= 50, { describe: 'the oldest have given way' });
    for (const { socket } of idle) socket.terminate();
  });

  it('closes a WebSocket that sends more than an app could have functions before it authenticates', async () => {
    const flood = await ConnectedInstance.open(`${service.url.replace('http', 'ws')}/v0/connect`);
    const closed = closing(flood.socket);
    flood.socket.send(Buffer.alloc(3_000_000));
    expect((await closed).code).to.equal(1_006);
  });

  it('closes a connection that sends an invalid message, or too much', async () => {
    const [garbage, large] = [await connect(), await connect()];
    const [garbageClosed, largeClosed] = [closing(garbage.socket), closing(large.socket)];
    garbage.socket.send(Buffer.from([0xff, 0xff, 0xff]));
    large.socket.send(Buffer.alloc(FRAME_MAX_BYTES + 1));
    expect((await garbageClosed).code).to.equal(1_007);
    expect((await largeClosed).code).to.equal(1_009);
    const deep = `{"kind":"workerHeartbeat","payload":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    const invalid = ['{"kind":', '"workerReply"', '{"kind":"workerReply","payload":{"requestId":7}}', deep];
    for (const text of [Buffer.from('{"kind":"workerHeartbeat"}'), ...invalid]) {
      const instance = await connect({ format: JSON_TEXT });
      const closed = closing(instance.socket);
      instance.socket.send('{"kind":"toString","payload":{}}');
      instance.socket.send(text);
      expect((await closed).code, String(text)).to.equal(1_007);
    }
  });

  it('rejects connections beyond CONNECTIONS_MAX', async () => {
    const all = [await connect(), await connect()];
    const { status, text } = await startConnection(service.url, service.appHeaders);
    expect([status, JSON.parse(text).code]).to.deep.equal([429, 'too_many_connections']);
    await Promise.all(all.map((item) => item.close()));
  });

  it('shows the SDK of an instance as that names it', async () => {
    for (const [language, sdk] of [
      ['typescript', 'js:v1.0.0'],
      ['constructor', 'constructor:v1.0.0'],
    ]) {
      const instance = await connect({ app: 'named', functions: [], language });
      const { data } = (await service.get('/v1/apps/named/connections')).body;
      expect(data.map((connection: { sdk: string }) => connection.sdk)).to.deep.equal([sdk]);
      await instance.close();
      await service.waitFor('/v1/apps/named/connections', ({ body }) => body.data.length === 0);
    }
  });

  it('tells an app why it cannot be registered, and keeps the earlier registration', async () => {
    await (await connect({ app: 'bad' })).close();
    const reasons = [
      [{ rawFunctions: 'nonsense' }, 'not a JSON array'],
      [{ rawFunctions: '[{"id": "bad-ship"}]' }, 'steps'],
    ] as const;
    for (const [options, expected] of reasons) {
      const { start } = await startConnection(service.url, service.appHeaders);
      const instance = await ConnectedInstance.open(start.gatewayEndpoint, start.connectionId);
      const failed = instance.frame(KIND.syncFailed);
      await instance.register(start, { app: 'bad', ...options } as object).catch(() => undefined);
      expect((await failed).read(SystemError).message).to.include(expected);
    }
    const { last_sync, function_count } = (await service.get('/v1/apps/bad')).body.data;
    expect([last_sync.succeeded, function_count]).to.deep.equal([false, 1]);
  });

  it('calls an instance only for functions that it has, and keeps those of the newest version when an older one reconnects', async () => {
    const newer = [...FUNCTIONS, { id: 'bill', triggers: [{ event: 'order/billed' }] }];
    const old = await connect({ app: 'mill', instanceId: 'old' });
    const fresh = await connect({ app: 'mill', instanceId: 'fresh', functions: newer });
    await old.terminate();
    await until(async () => (await service.get('/v1/apps/mill/connections')).body.data.length === 1, {
      describe: 'the old connection is gone',
    });
    const again = await connect({ app: 'mill', instanceId: 'old' });
    expect((await service.get('/v1/apps/mill')).body.data.function_count).to.equal(2);
    for (let i = 0; i < 4; i++) {
      await service.post(service.eventPath, { name: 'order/billed', data: {} });
      const call = await fresh.nextCall();
      fresh.acknowledge(call);
      await fresh.complete(call);
    }
    expect(again.calls).to.deep.equal([]);
    await Promise.all([fresh.close(), again.close()]);
  });

  it('waits with calls until a connection says that it is ready, if it announced that', async () => {
    const { start } = await startConnection(service.url, service.appHeaders);
    const instance = await ConnectedInstance.open(start.gatewayEndpoint, start.connectionId);
    instance.send(KIND.workerConnect, WorkerConnectRequest, {
      connectionId: start.connectionId,
      authData: { sessionToken: start.sessionToken, syncToken: '' },
      apps: [{ appName: 'slow', appVersion: '7', functions: Buffer.from(JSON.stringify([configOf()])) }],
      workerManualReadinessAck: true,
    });
    await instance.frame(KIND.gatewayConnectionReady);
    const status = async () => (await service.get('/v1/apps/slow/connections')).body.data[0];
    expect(await status()).to.include({ status: 'connecting', app_version: '7' });
    instance.send(KIND.workerHeartbeat);
    await instance.frame(KIND.gatewayHeartbeat);
    instance.send(KIND.workerReady);
    await until(async () => (await status()).status === 'ready', { describe: 'the connection is ready' });
    await instance.close();
  });

  it('closes a connection and rejects a session when their signing key is neither the current nor the previous one', async () => {
    const path = '/v1/environments/branches/signing-key';
    const { current } = (await service.get(path)).body.data;
    const headers = { authorization: `Bearer ${hashedKey(current)}`, 'x-inngest-env': 'rotating' };
    const rotate = () => service.post(`${path}/rotate`, undefined, service.apiHeaders);
    const instance = await connect({ headers });
    const { start } = await startConnection(service.url, headers);
    const closed = closing(instance.socket);
    await rotate();
    await renewal('rotating', instance.id);
    expect(instance.socket.readyState).to.equal(instance.socket.OPEN);
    await rotate();
    expect(await closed).to.deep.equal({ code: 4_401, reason: 'connect_authentication_failed' });
    const late = await ConnectedInstance.open(start.gatewayEndpoint, start.connectionId);
    const lateClosed = closing(late.socket);
    await late.register(start, { functions: FUNCTIONS }).catch(() => undefined);
    expect((await lateClosed).code).to.equal(4_401);
    const stored = await service.redis.keys(`${service.prefix}:*connection*rotating*`);
    expect(JSON.stringify(stored)).not.to.include(hashedKey(current));
  });

  it('DELETE /v1/apps/:name/connections/:id takes a connection out of use at once and closes it, so that its instance connects again', async () => {
    const instance = await connect();
    const closed = closing(instance.socket);
    const end = (app: string, id: string) =>
      service.request('DELETE', `/v1/apps/${app}/connections/${id}`, undefined, service.apiHeaders);
    expect((await end('other', instance.id)).status).to.equal(404);
    expect((await end('shop', instance.id)).status).to.equal(204);
    expect((await service.get('/v1/apps/shop/connections')).body.data).to.deep.equal([]);
    expect(await closed).to.deep.equal({ code: 1_001, reason: 'connect_gateway_closing' });
    expect((await end('shop', instance.id)).body.code).to.equal('not_found');
    const [entry] = (await service.get('/v1/audit')).body.data;
    expect(entry).to.include({ action: 'DELETE /v1/apps/:name/connections/:id', target: `shop/${instance.id}` });
    await (await connect()).close();
  });

  it('asks its instances to connect elsewhere when the process shuts down, and ends when they have left', async () => {
    const web = await service.startWeb();
    service.webs.pop();
    const instance = await ConnectedInstance.connect(`http://127.0.0.1:${web.port}`, {
      functions: FUNCTIONS,
      headers: service.appHeaders,
    });
    const stopped = web.stop();
    await instance.frame(KIND.gatewayClosing);
    expect((await service.get('/v1/apps/shop/connections')).body.data).to.deep.equal([]);
    await instance.close();
    await stopped;
  });
});

describe('The gateway in dev mode', () => {
  it('closes idle connections when the process shuts down and no other takes them, and keeps those with calls in progress', async () => {
    const service = await startService({ env: { SHUTDOWN_GRACE_SECONDS: '60' } });
    try {
      const web = await service.startWeb();
      service.webs.pop();
      const connect = (app: string) =>
        ConnectedInstance.connect(`http://127.0.0.1:${web.port}`, { app, functions: FUNCTIONS });
      const [idle, busy] = await Promise.all([connect('idle'), connect('busy')]);
      await service.post('/e/key', { name: 'order/paid', data: {} });
      const [done, call] = await Promise.all([idle.nextCall(), busy.nextCall()]);
      for (const [instance, taken] of [
        [idle, done],
        [busy, call],
      ] as const)
        instance.acknowledge(taken);
      await idle.complete(done);
      expect(await busy.extend(call)).to.equal(call.leaseId);

      const stopped = web.stop();
      expect(await closing(idle.socket)).to.deep.equal({ code: 1_001, reason: 'connect_gateway_closing' });
      expect(await busy.extend(call)).to.equal(call.leaseId);
      const closed = closing(busy.socket);
      await busy.complete(call);
      expect((await closed).reason).to.equal('connect_gateway_closing');
      await stopped;
    } finally {
      await service.stop();
    }
  });

  it('creates the branch that an app names, and closes its connections when the branch is archived', async () => {
    const service = await startService();
    try {
      const headers = { 'x-inngest-env': 'feature-1' };
      const instance = await ConnectedInstance.connect(service.url, { functions: FUNCTIONS, headers });
      const closed = closing(instance.socket);
      const { status } = await service.post('/v1/environments/feature-1/archive');
      expect(status).to.equal(200);
      expect((await closed).reason).to.equal('connect_gateway_closing');
      const again = await startConnection(service.url, headers);
      expect([again.status, JSON.parse(again.text).code]).to.deep.equal([403, 'environment_archived']);
    } finally {
      await service.stop();
    }
  });
});

function configOf(): object {
  const step = { id: 'step', name: 'step', runtime: { type: 'ws' } };
  return { id: 'slow-ship', triggers: [{ event: 'never/sent' }], steps: { step } };
}
